"""`make test-valgrind`: compiled functions under valgrind, which sees each read and write.

Python itself and NumPy read where valgrind wonders; told is only of what happens in compiled code
of this package, or is called from there.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
TRIED = [str(ROOT / "tests" / "_kernels" / "doors.py"), "0", "0"]


def told(error: ElementTree.Element) -> str:
    """What happened, and where."""
    what = error.findtext("what") or error.findtext("xwhat/text") or error.findtext("kind")
    places = (
        f"    {frame.findtext('fn', '?')} ({Path(frame.findtext('obj', '?')).name})"
        for frame in error.findall("stack[1]/frame")
    )
    return "\n".join([str(what), *places])


def of_this_package(error: ElementTree.Element) -> bool:
    """Whether compiled code of this package did it; what is called first stands first."""
    frames = error.findall("stack[1]/frame")
    return any("ksupport/_kernels" in frame.findtext("obj", "") for frame in frames[:4])


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.xml")
        command = ["valgrind", "--quiet", "--xml=yes", f"--xml-file={log}", sys.executable, *TRIED]
        environment = {**os.environ, "PYTHONMALLOC": "malloc", "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            print("\n".join(done.stderr.splitlines()[-20:]))
            return done.returncode
        every = ElementTree.parse(log).getroot().iter("error")
    # What types and constants take stays until the end.
    errors = [each for each in every if not each.findtext("kind", "").startswith("Leak_")]
    own = [error for error in errors if of_this_package(error)]
    print(f"{len(own)} errors in this package, {len(errors) - len(own)} elsewhere")
    for error in own:
        print(told(error))
    return int(bool(own))


if __name__ == "__main__":
    sys.exit(main())
