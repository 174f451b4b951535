// Search on pages that were opened from a disk, where browsers start no workers: runs the worker's script in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = `<script>postMessage = data => parent.postMessage(data, "*")<\/script><script src="${url}"><\/script>`;
      this.frame.addEventListener("load", () => {
        this.loaded = true;
        this.waiting.splice(0).forEach(data => this.postMessage(data));
      });
      window.addEventListener("message", event => {
        if (event.source === this.frame.contentWindow) this.deliver(event.data);
      });
      document.body.appendChild(this.frame);
    }
    deliver(data) {
      const event = new MessageEvent("message", {data});
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    }
    postMessage(data) {
      const inside = this.frame.contentWindow;
      if (this.loaded) inside.dispatchEvent(new inside.MessageEvent("message", {data}));
      else this.waiting.push(data);
    }
    terminate() {
      this.frame.remove();
    }
  };
}
