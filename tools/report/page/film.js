// Controls of films (figure.film, with the SVG of figures/film_svg): play, pause, a slider over the steps, the reward.
for (const figure of document.querySelectorAll('figure.film')) {
  const svg = figure.querySelector(':scope > svg');
  const film = JSON.parse(svg.querySelector('metadata').textContent);
  const moves = svg.getAnimations({subtree: true});
  const frame_ms = 1000 * film.frame_s, steps = film.returns.length, last = film.frames - 1;
  const make = (name, set) => Object.assign(document.createElement(name), set);
  const button = make('button', {type: 'button'});
  const slider = make('input', {type: 'range', min: 0, max: last, step: 1, value: 0});
  const speed = make('select', {});
  const said = make('output', {});
  slider.setAttribute('aria-label', 'Step');
  speed.setAttribute('aria-label', 'Speed');
  for (const [factor, text] of [[0.1, '1/10'], [0.25, '1/4'], [0.5, '1/2'], [1, '1'], [2, '2'], [4, '4']]) {
    speed.add(new Option(text + ' x', factor, factor === 1, factor === 1));
  }
  let playing = false;

  function tell(frame) {
    const step = frame === last ? steps : frame * film.every;
    const sum = step > 0 ? film.returns[step - 1] : 0, before = step > 1 ? film.returns[step - 2] : 0;
    const number = value => value === null ? 'NaN' : value.toFixed(Math.abs(value) < 100 ? 3 : 1);
    said.textContent = `step ${step} of ${steps}, reward ${step > 0 ? number(sum - before) : '-'}, return ${number(sum)}`;
    slider.setAttribute('aria-valuetext', said.textContent);
    slider.value = frame;
  }
  function show(frame) {
    for (const move of moves) { move.currentTime = (frame + 0.5) * frame_ms; }
    tell(frame);
  }
  function follow() {
    if (!playing) { return; }
    const shown = moves[0].effect.getComputedTiming().progress * moves[0].effect.getComputedTiming().duration;
    tell(Math.min(last, Math.floor(shown / frame_ms)));
    requestAnimationFrame(follow);
  }
  function play(on) {
    playing = on;
    for (const move of moves) { on ? move.play() : move.pause(); }
    button.textContent = on ? 'Pause' : 'Play';
    follow();
  }
  button.addEventListener('click', () => play(!playing));
  slider.addEventListener('input', () => { play(false); show(Number(slider.value)); });
  speed.addEventListener('change', () => moves.forEach(move => move.updatePlaybackRate(Number(speed.value))));
  const controls = make('div', {className: 'controls'});
  controls.append(button, slider, speed, said);
  figure.append(controls);
  play(false);
  show(0);
}
