"""The bubblewrap around the demo machine: its own files, processes and network, and one disk.

Nothing of the host is visible but /usr, the Python that runs the server, its installed packages and
this package, all read-only. Needs bubblewrap 0.8 and user namespaces; whether both are really there
is found out by starting it. Where the host's user is root, the process inside still is that user to
the kernel, only without capabilities: hence no writable /proc (kernel settings belong to root).
"""

import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

HOME = "/home/demo"
DISK_BYTES = 64 << 20
_SCRATCH_BYTES = 16 << 20
_HERE = Path(__file__).parent
_FROM_HOST_ETC = ("alternatives", "ld.so.cache")
"""Needed to find programs and libraries; they say nothing of the host but what is installed."""


def python_command() -> list[str]:
    """The interpreter itself, not the environment's link to it: links may lead anywhere.

    It must not import from its working directory (-P): commands write there.
    """
    return [str(Path(sys.executable).resolve()), "-P", "-B", "-s", "-m", "bot.demo.ssh_server"]


def python_environment() -> dict[str, str]:
    """What that interpreter needs to find this package and the installed ones."""
    found = {"PYTHONPATH": ":".join([str(_HERE.parents[1]), *map(str, _site_folders())])}
    if sysconfig.get_config_var("Py_ENABLE_SHARED"):
        found["LD_LIBRARY_PATH"] = str(Path(sys.base_prefix, "lib"))
    return found


def sandbox_arguments(info_fd: int) -> list[str]:
    """bubblewrap's options, without the command. It writes the sandbox's pid to `info_fd`."""
    arguments = [
        *("--unshare-all", "--unshare-user", "--disable-userns", "--new-session"),
        *("--uid", "1000", "--gid", "1000", "--cap-drop", "ALL", "--hostname", "demo"),
        *("--info-fd", str(info_fd), "--clearenv"),
        *("--ro-bind", "/usr", "/usr"),
        *_top_links(),
        *_etc(),
        *("--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev"),
    ]
    for folder in ("/dev/shm", "/tmp", "/run", "/var"):
        arguments += ["--size", str(_SCRATCH_BYTES), "--tmpfs", folder]
    arguments += ["--size", str(DISK_BYTES), "--tmpfs", HOME]
    # After the folders above, which would hide what lies below them on the host.
    arguments += _read_only()
    arguments += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", HOME]
    environment = {"PATH": "/usr/bin:/bin", "HOME": HOME, "LANG": "C.UTF-8", **python_environment()}
    for name, value in environment.items():
        arguments += ["--setenv", name, value]
    return arguments


def _site_folders() -> list[Path]:
    names = {"site-packages", "dist-packages"}
    return [Path(entry) for entry in sys.path if Path(entry).name in names and Path(entry).is_dir()]


def _top_links() -> Iterator[str]:
    """/bin and its like as the host has them: a link into /usr, or a folder of its own."""
    for name in ("bin", "sbin", "lib", "lib64", "lib32"):
        path = Path("/", name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))


def _etc() -> Iterator[str]:
    for file in sorted((_HERE / "etc").iterdir()):
        yield from ("--ro-bind", str(file), f"/etc/{file.name}")
    for name in _FROM_HOST_ETC:
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    yield from ("--symlink", "../usr/lib/os-release", "/etc/os-release")


def _read_only() -> Iterator[str]:
    """The interpreter, its packages and this package, each where it is on the host."""
    wanted = [Path(sys.base_prefix), *_site_folders(), _HERE.parent / "__init__.py", _HERE]
    seen = [Path("/usr")]
    for path in wanted:
        if not any(path.is_relative_to(above) for above in seen):
            seen.append(path)
            yield from ("--ro-bind", str(path), str(path))
