"""The rules as data: programs that only look, each with the flags that keep it so.

Sources: the programs' manual pages (coreutils 9, procps 4, iproute2 6, systemd 252).
A flag that writes, runs something, follows for ever, or reads names from a file is left out.
"""

import re
from dataclasses import dataclass

SECRET_PATHS = re.compile(
    r"""
      (?:^|/)g?shadow-?$            | (?:^|/)sudoers(?:\.d)?(?:/|$)
    | (?:^|/)\.env(?:\.|$)          | \.env$
    | (?:^|/)\.(?:ssh|gnupg|aws|kube|azure|docker|config/gcloud|password-store)(?:/|$)
    | (?:^|/)id_(?:rsa|dsa|ecdsa|ed25519)      | ssh_host_\w+_key$
    | \.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk)$
    | (?:^|/)\.(?:netrc|pgpass|my\.cnf|npmrc|pypirc|git-credentials|vault-token|\w*_history)$
    | /proc/.*/(?:environ|cmdline|mem|auxv|fd|maps)    | /proc/(?:kcore|keys)$
    | (?:^|/)(?:credentials?|secrets?|passwd-|passwords?|tokens?)(?:\.\w+)?(?:/|$)
    | (?:^|/)dev/(?!null$)          | ^/run/(?:secrets|credentials)(?:/|$)
    | (?:^|/)etc/(?:wireguard|ipsec\.secrets|pve/priv|letsencrypt)(?:/|$)
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Paths whose contents are not shown, wherever a command would print them."""


@dataclass(frozen=True)
class Program:
    """What one program may be called with.

    `short` are letters that may stand alone or joined behind one dash; `long` are whole flags, and
    those written with `=` at their end take a value behind that sign and in no other way, lest a
    word after them be taken for what it is not. `valued` are flags that take the next word, or
    digits right behind them. `first` and `second` are the only words its first and second operand
    may be, where they are named. `shuns` may be in none of its words. `shows_contents`: it prints
    what is in the files it is given.
    """

    reason: str
    short: str = ""
    long: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    first: frozenset[str] = frozenset()
    second: frozenset[str] = frozenset()
    needs_first: bool = False
    most_operands: int = 16
    shuns: str = ""
    shows_contents: bool = False

    def allows(self, flag: str) -> bool:
        """Whether this word, which starts with a dash, is one of the flags."""
        if flag.startswith("--"):
            name, sign, _ = flag.partition("=")
            return name + sign in self.long
        if flag[:2] in self.valued and flag[2:].isdigit():
            return True
        return flag in self.long or all(letter in self.short for letter in flag[1:])


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _prints(short: str = "", *, long: str = "", valued: str = "") -> Program:
    return Program(
        "prints files", short, _words(long), _words(valued), most_operands=16, shows_contents=True
    )


def _shows(what: str, short: str = "", *, long: str = "", valued: str = "") -> Program:
    return Program(f"shows {what}", short, _words(long), _words(valued))


def _states(what: str, short: str = "", *, long: str = "", valued: str = "") -> Program:
    return Program(f"shows {what}", short, _words(long), _words(valued), most_operands=0)


PROGRAMS: dict[str, Program] = {
    # files
    "cat": _prints("AbeEnstTv"),
    "head": _prints("qv0123456789", long="--lines= --bytes=", valued="-n -c"),
    "tail": _prints("qv0123456789", long="--lines= --bytes=", valued="-n -c"),
    "wc": _prints("clmwL"),
    "md5sum": _prints("bt"),
    "sha256sum": _prints("bt"),
    "grep": _prints(
        "abcEFGHhiLlnoqsvwxy",
        long="--count --ignore-case --line-number --max-count= --fixed-strings --no-messages",
        valued="-A -B -C -m -e",
    ),
    "ls": _shows("files", "1aAdFghHiklLnopqrRsStTuUvxZ", long="--full-time --all --si"),
    "stat": _shows("what a file is", "fLt", long="--format=", valued="-c"),
    "file": _shows("what a file is", "bhiL"),
    "readlink": _shows("where a link leads", "efmn"),
    "realpath": _shows("where a path leads", "emLPsz"),
    "du": _shows(
        "sizes",
        "abcDhHkLmsSx0",
        long="--max-depth= --total --summarize --one-file-system --apparent-size --all --si"
        " --human-readable",
        valued="-d -t -B",
    ),
    "find": _shows(
        "files",
        long="-xdev -mount -empty -ls -print -daystart -depth",
        valued="-maxdepth -mindepth -name -iname -path -ipath -type -size -mtime -mmin -ctime"
        " -cmin -newer -user -group -perm -links",
    ),
    # disks
    "df": _shows(
        "free space",
        "ahHiklPT",
        long="--total --inodes --output --output= --local --print-type --human-readable --si",
        valued="-t -x -B",
    ),
    "lsblk": _shows("disks", "abdfilmnopPrStz", long="--output= --json", valued="-o"),
    "findmnt": _shows("mounts", "abDeflnPrRtuv", long="--json", valued="-o -t -T"),
    "zpool": Program("shows pools", "HLPpvx", first=_words("list status"), needs_first=True),
    # the system
    "free": _states("memory", "bghklmtw", long="--human --mega --giga --total"),
    "uptime": _states("load", "ps"),
    "uname": _states("the system", "aimnoprsv"),
    "hostname": _states("the name", "AdfIis"),
    "whoami": _states("the user"),
    "who": _states("logins", "abdHlmpqrstTuw"),
    "date": _states("the time", "uIR", long="--utc --rfc-3339= --iso-8601 --iso-8601="),
    "nproc": _states("processors", long="--all"),
    "lscpu": _states("processors", "abceJpsxy"),
    "id": _shows("users", "gGnru"),
    "last": _shows("logins", "adFiRwx0123456789", valued="-n"),
    "vmstat": _states("activity", "admnsSw"),
    "dmesg": _states("kernel messages", "dHkLtTux", long="--level= --ctime", valued="-l"),
    # processes and services
    "ps": Program(
        "shows processes",
        "AaCdefFgGHjlLmMNpqTuvwxyZ",
        long=_words("--forest --no-headers --sort= --pid= --ppid= --user= --format="),
        valued=_words("-o -eo -C -p -u"),
        first=_words("aux auxf ax axf"),
        shuns="env",
        most_operands=1,
    ),
    "pgrep": _shows("processes", "aclnovwxf", valued="-u -P"),
    "ss": _states("sockets", "0246aeHilmnoprstuwxz"),
    "ip": Program(
        "shows the network",
        "46srdhjo",
        long=_words("-br -brief -json -stats -details"),
        first=_words("a addr address l link r route n neigh ru rule"),
        second=_words("show list ls"),
        needs_first=True,
        most_operands=2,
    ),
    "systemctl": Program(
        "shows services",
        "alqrn",
        long=_words(
            "--no-pager --all --full --failed --type= --state= --plain --no-legend --lines="
        ),
        valued=_words("-n -t -o"),
        first=_words(
            "status is-active is-enabled is-failed list-units list-unit-files list-timers"
            " list-sockets list-dependencies"
        ),
        needs_first=True,
    ),
    "journalctl": Program(
        "shows logs",
        "abekmqrx",
        long=_words(
            "--no-pager --unit= --lines= --priority= --since= --until= --boot --boot= --dmesg"
            " --list-boots --reverse --disk-usage --quiet --utc --no-hostname"
        ),
        valued=_words("-u -n -p -S -U -t -g"),
        most_operands=0,
    ),
    "docker": Program(
        "shows containers",
        "aqs",
        long=_words("--format= --no-trunc --no-stream"),
        first=_words("ps images stats version"),
        needs_first=True,
        most_operands=1,
    ),
    # packages and names
    "dpkg": _shows("packages", long="-l -s -L -S --list --status --listfiles --search"),
    "which": _shows("where programs are", "a"),
    "getent": Program(
        "shows the system's lists",
        first=_words("passwd group services protocols"),
        needs_first=True,
        most_operands=2,
    ),
}
