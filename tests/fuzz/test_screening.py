"""Any text gets a verdict, and whatever runs is one plain command from the list (T4)."""

import re
import shlex
import time

from hypothesis import given
from hypothesis import strategies as st

from core.screening import screen
from core.screening.rules import PROGRAMS, SECRET_PATHS
from tests.fuzz.budget import target
from tests.fuzz.rubbish import any_text

PLAIN = re.compile(r"[A-Za-z0-9_./:=,@%+ -]+")
FORBIDDEN = {
    "find": r"-(?:exec|execdir|ok|okdir|delete|fprint0?|fprintf|fls|files0-from)$",
    "tail": r"--(?:follow|retry|pid)|-[a-zA-Z]*[fF]",
    "journalctl": r"--(?:vacuum|rotate|flush|sync|setup-keys|follow|machine|root|image)|-[fMD]",
    "systemctl": r"--(?:host|machine|root|image|signal|force|now)|-[HM]",
    "dmesg": r"--(?:clear|read-clear|console|follow)|-[a-zA-Z]*[cCDEw]",
    "date": r"--set|-[a-zA-Z]*s",
    "hostname": r"--file|-[a-zA-Z]*[Fb]",
    "ip": r"-(?:batch|b$|force|netns|n$)",
    "docker": r"--(?:host|context|config)|-[Hc]",
    "file": r"--(?:compile|files-from|magic-file)|-[a-zA-Z]*[Cfm]",
    "wc": "--files0-from",
    "du": r"--(?:files0-from|exclude-from)|-[a-zA-Z]*X",
    "grep": r"--(?:file|recursive|dereference-recursive)|-[a-zA-Z]*[frR]",
    "ss": "-[a-zA-Z]*[KDF]",
}
"""By program, flags that write, run or kill something, follow for ever, or go elsewhere."""

flags = sorted({flag for each in PROGRAMS.values() for flag in (*each.long, *each.valued)})
subcommands = sorted({word for each in PROGRAMS.values() for word in (*each.first, *each.second)})
words = st.one_of(
    st.sampled_from(flags),
    st.sampled_from(flags).map(lambda flag: f"{flag}=x"),
    st.sampled_from(subcommands),
    st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=3).map("-".__add__),
    st.sampled_from(
        ["/", "/etc/hosts", "/etc/shadow", "~/.ssh/id_rsa", "-delete", "-exec", "--", "-", "5",
         "-n5", "--output=/x", "--follow", "-f", "+x", "a=b", "/proc/1/environ", "%s", "../x",
         "/etc//shadow", "/etc/./shadow", "/root/.bash_history", "-o", "-H", "\t", "\n", "x;y"]
    ),
)  # fmt: skip
commands = st.builds(
    lambda name, rest: " ".join([name, *rest]),
    st.sampled_from(sorted(PROGRAMS)),
    st.lists(words, max_size=6),
)


@target
@given(command=st.one_of(any_text, commands, commands))
def test_any_text_gets_a_verdict_and_only_plain_commands_run(command: str) -> None:
    before = time.process_time()
    verdict = screen(command)
    assert time.process_time() - before < 0.5
    assert verdict.rule
    assert verdict.reason
    verdict.reason.encode()
    if verdict.decision != "run":
        assert verdict.risk == "refused"
        return
    assert verdict.risk == "read_only"
    assert_plain(command)


def assert_plain(command: str) -> None:
    """A shell sees in it just the words we saw, and none of them does more than look."""
    assert PLAIN.fullmatch(command)
    assert len(command.strip()) <= 4_096
    argv = shlex.split(command)
    assert argv == command.split()
    name = argv[0].rsplit("/", 1)[-1]
    assert argv[0] in (name, f"/bin/{name}", f"/usr/bin/{name}")
    program = PROGRAMS[name]
    forbidden = re.compile(FORBIDDEN.get(name, r"(?!)"))
    rest = iter(argv[1:])
    operands: list[str] = []
    for word in rest:
        if word == "--":
            operands += rest
        elif word in program.valued:
            next(rest)
        elif word.startswith("-") and word != "-":
            assert not forbidden.match(word), command
        else:
            operands.append(word)
    if program.shows_contents:
        assert not any(SECRET_PATHS.search(word) for word in operands), command
