"""Packs a build tree as a wheel, for tests: it needs the libraries of this machine, as the build does. scripts/wheel builds real ones."""
import pathlib
import re
import shutil
import subprocess
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def make_wheel(build, folder):
    """A wheel of a build tree, with the layout that pyproject.toml describes."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    settings, name = project["tool"]["scikit-build"], project["project"]["name"].replace("-", "_")
    version = re.search(settings["metadata"]["version"]["regex"], (ROOT / "CMakeLists.txt").read_text())["value"]
    content = folder / "content"
    for component in settings["install"]["components"]:
        subprocess.run(["cmake", "--install", build, "--component", component, "--prefix", content / settings["wheel"]["install-dir"]],
                       check=True, stdout=subprocess.DEVNULL)
    for package in settings["wheel"]["packages"]:
        shutil.copytree(ROOT / package, content / pathlib.Path(package).name, dirs_exist_ok=True)
    for record in ("torch.json", "python.json"):  # places of this machine
        (content / settings["wheel"]["install-dir"] / "lib/backplane" / record).unlink(missing_ok=True)
    info = content / f"{name}-{version}.dist-info"
    info.mkdir()
    needs = "".join(f"Requires-Dist: {line}\n" for line in project["project"]["dependencies"])
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['project']['name']}\nVersion: {version}\n{needs}")
    (info / "WHEEL").write_text("Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n")
    (info / "entry_points.txt").write_text(
        "[console_scripts]\n" + "".join(f"{key} = {value}\n" for key, value in project["project"]["scripts"].items()))
    (info / "RECORD").write_text("")
    file = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as wheel:
        for path in sorted(content.rglob("*")):
            wheel.write(path, path.relative_to(content))
    shutil.rmtree(content)
    return file
