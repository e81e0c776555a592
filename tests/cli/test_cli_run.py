"""The command line as a whole: help, exit codes, streams, JSON, Ctrl-C, closed pipes."""

import json
import signal
import subprocess
import sys

import click
import pytest
from command_line import call, start

import mercer
import mercer.cli
from mercer.checks import (
    DataError,
    FileError,
    InputError,
    KernelError,
    MemoryLimitError,
    MercerError,
    ParseError,
)
from mercer.cli import commands, errors, options
from mercer.cli.errors import ClosedPipe, CommandError, Exit, code_of, in_options, text_of
from mercer.cli.group import Commands
from mercer.cli.screen import safe
from mercer.data import FORMATS
from mercer.tables.encoder.columns import DROP, KINDS


def test_help_lists_every_command_with_what_it_does():
    ended = call("--help")
    assert ended.code == 0
    assert ended.err == ""
    for name in Commands.names:
        assert f"\n  {name} " in ended.out
        own = call(name, "--help")
        assert own.code == 0
        assert own.out.startswith(f"Usage: mercer {name} ")
        assert "--json" in own.out
    assert "..." not in ended.out.partition("Commands:")[2]  # nothing is cut


def test_help_loads_click_and_nothing_heavy():
    code = (
        "import sys\n"
        "from mercer.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n"
        "    names = {name.partition('.')[0] for name in sys.modules}\n"
        "    sys.stderr.write(' '.join(names & {'numpy', 'sklearn', 'polars', 'rich', 'click'}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "click"


def test_version():
    ended = call("--version")
    assert (ended.code, ended.out) == (0, f"mercer {mercer.__version__}\n")


def test_a_misspelt_command_is_suggested():
    ended = call("pridect", "a", "b")
    assert ended.code == 2
    assert ended.out == ""
    assert "got 'pridect'. Did you mean 'predict'? Try 'mercer --help'." in ended.err


def test_a_misspelt_option_and_a_missing_argument_are_usage():
    ended = call("fit", "a.csv", "--taget", "b")
    assert ended.code == 2
    assert "mercer fit: No such option" in ended.err
    assert "--target" in ended.err
    assert call("predict", "only.mercer").code == 2


def test_without_click_it_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(mercer.cli, "find_spec", lambda name: None if name == "click" else name)
    with pytest.raises(SystemExit) as ended:
        mercer.cli.main(["--help"])
    assert ended.value.code == 1
    assert 'pip install "mercer[app]"' in capsys.readouterr().err


def test_main_ends_with_the_exit_code(capsys):
    with pytest.raises(SystemExit) as ended:
        mercer.cli.main(["inspect", "no-such-file.mercer"])
    assert ended.value.code == 3
    assert "error: mercer inspect: the model must be a file" in capsys.readouterr().err


def test_a_module_is_run_as_the_command():
    process = start("--version")
    out, err = process.communicate()
    assert (process.returncode, out.decode(), err) == (0, f"mercer {mercer.__version__}\n", b"")


# --- one place for codes and sentences ------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (DataError("a"), 3),
        (FileError("a"), 3),
        (InputError("a"), 3),
        (KernelError("a"), 2),
        (ParseError("ab", 1, "wrong"), 2),
        (MemoryLimitError("a"), 5),
        (MemoryError(), 5),
        (MercerError("a"), 1),
        (CommandError(Exit.NOT_CONVERGED, "a"), 4),
        (click.UsageError("a"), 2),
        (click.ClickException("a"), 1),
        (click.Abort(), 130),
        (KeyboardInterrupt(), 130),
        (ClosedPipe(), 141),
        (OSError(28, "No space left on device"), 1),
        (ModuleNotFoundError("No module named 'onnx'", name="onnx"), 1),
        (ZeroDivisionError("x"), 1),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, BaseException) else str(one),
)
def test_each_exception_has_a_code_and_a_sentence(error, code):
    assert code_of(error) == code
    text = text_of(error)
    assert (text == "") == (code == 141)
    if code != 141:
        assert str(error).splitlines()[:1] == [] or len(text) >= len(str(error)) or code == 130


def test_what_the_system_and_strangers_say_becomes_a_sentence():
    full = text_of(OSError(28, "No space left on device", "/tmp/m.mercer"))
    assert full == (
        "mercer: there must be room on the disk for '/tmp/m.mercer'; got No space left on device. "
        "Make room; a file that was there before is as it was."
    )
    assert "the package onnx must be installed" in text_of(ModuleNotFoundError("x", name="onnx"))
    odd = text_of(ZeroDivisionError("division by zero"))
    assert "got ZeroDivisionError: division by zero. This is a fault of mercer" in odd


def test_advice_for_python_becomes_advice_for_a_shell():
    text = (
        "Say encoding=\"cp1252\", or types={'net price': \"category\"}; format='parquet'; "
        "what is missing belongs into missing=."
    )
    assert in_options(text) == (
        "Say --encoding cp1252, or --type 'net price'=category; --format parquet; "
        "what is missing belongs into --missing."
    )


def test_the_words_of_options_are_those_of_the_library():
    assert options.FORMATS == FORMATS
    assert (*KINDS, DROP) == options.COLUMN_KINDS
    assert set(errors.WORDS) == set(Exit) - {Exit.OK}
    assert commands.__doc__ is not None


def test_names_cannot_command_a_terminal():
    assert safe("a\x1b[31mred\x07\u202e") == "a\ufffd[31mred\ufffd\ufffd"
    assert safe("two\nlines\tand ü") == "two\nlines\tand ü"


def test_a_fault_is_told_in_one_line_and_in_full_with_debug(monkeypatch, numbers):
    def broken(path, who):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("mercer.cli.stored.models.read_model", broken)
    ended = call("inspect", numbers)
    assert ended.code == 1
    assert "Traceback" not in ended.err
    assert "ZeroDivisionError: oh" in ended.err
    assert "Traceback" in call("inspect", numbers, "--debug").err


# --- JSON -----------------------------------------------------------------------------------------

ENVELOPE = {"version", "mercer", "command", "exit_code", "error", "warnings", "result"}


def test_json_is_one_object_and_nothing_else(numbers):
    ended = call("inspect", numbers, "--json")
    assert set(ended.json) == ENVELOPE
    assert ended.json["version"] == 1
    assert (ended.json["command"], ended.json["exit_code"]) == ("inspect", 0)
    assert ended.json["error"] is None
    assert ended.out.count("\n") == 1


def test_json_tells_of_failures_too():
    ended = call("inspect", "no-such.mercer", "--json")
    assert ended.code == ended.json["exit_code"] == 3
    assert ended.json["error"]["kind"] == "data"
    assert "no-such.mercer" in ended.json["error"]["message"]
    assert ended.json["result"] is None
    assert set(ended.json) == ENVELOPE
    usage = call("fit", "--json")
    assert usage.json["error"]["kind"] == "usage"


# --- processes ------------------------------------------------------------------------------------


def test_ctrl_c_ends_with_130_and_leaves_no_file(home, tmp_path):
    words = ("fit", home / "flats.csv", "-t", "rent", "--time-limit", "300", "--no-report")
    process = start(*words, "--out", tmp_path / "m.mercer", "-v")
    seen = b""
    while b"KernelRidge" not in seen and process.poll() is None:  # a record of the first fit
        line = process.stderr.readline()
        seen += line
        if not line:
            break
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, seen + err
    assert b"stopped by Ctrl-C" in err
    assert b"Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_has_gone_ends_it_quietly(numbers, home, tmp_path):
    lines = (home / "new.csv").read_text().splitlines()
    many = tmp_path / "many.csv"
    many.write_text("\n".join([lines[0], *lines[1:] * 4000]) + "\n")
    process = start("predict", numbers, many, "--quiet")
    process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read()
    assert (process.wait(timeout=120), err) == (141, b"")
    process.stdin.close()
    process.stderr.close()


def test_results_go_to_stdout_and_all_else_to_stderr(numbers, home):
    process = start("predict", numbers, "-", "-v")
    odd = (home / "new.csv").read_bytes().replace(b"Old Town", b"Atlantis")
    out, err = process.communicate(odd)
    assert process.returncode == 0
    lines = out.decode().splitlines()
    assert lines[0] == "prediction"
    assert all(float(line) > 0 for line in lines[1:])
    assert len(lines) == 13
    if b"Atlantis" in odd:
        assert b"'Atlantis'" in err


def test_completion_is_a_script_that_a_shell_can_read(tmp_path):
    for shell, word in (("bash", "complete"), ("zsh", "compdef"), ("fish", "complete")):
        ended = call("completion", shell)
        assert ended.code == 0
        assert "_MERCER_COMPLETE" in ended.out
        assert word in ended.out
    script = tmp_path / "script.bash"
    script.write_text(call("completion", "bash").out)
    subprocess.run(["bash", "-n", script], check=True)
    assert call("completion", "tcsh").code == 2


def test_commands_and_options_are_completed(monkeypatch):
    monkeypatch.setenv("_MERCER_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "mercer pre")
    monkeypatch.setenv("COMP_CWORD", "1")
    ended = call()
    assert ended.code == 0
    assert ended.out.strip() == "plain,predict"


def test_json_of_the_process_is_pure(numbers):
    process = start("inspect", numbers, "--json")
    out, err = process.communicate()
    assert (process.returncode, err) == (0, b"")
    assert json.loads(out)["result"]["estimator"] == "AutoKernelRegressor"
