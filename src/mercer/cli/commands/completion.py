"""mercer completion: what a shell needs to complete commands and options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..options import as_command

if TYPE_CHECKING:
    from ..screen import Screen

EPILOG = """\b
Put one of these into the file that your shell reads when it starts:
  bash  eval "$(mercer completion bash)"     ~/.bashrc
  zsh   eval "$(mercer completion zsh)"      ~/.zshrc
  fish  mercer completion fish | source      ~/.config/fish/config.fish
"""


@as_command("completion", "Print completions for a shell.", epilog=EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(screen: Screen, shell: str) -> None:
    """Print a script that lets a shell complete commands and options."""
    from click.shell_completion import get_completion_class

    from ..group import cli

    kind = get_completion_class(shell)
    if kind is None:  # click has lost a shell that it knew
        from ..errors import usage

        raise usage("mercer completion", "click must know the shell", shell)
    script = kind(cli, {}, "mercer", "_MERCER_COMPLETE").source()
    screen.show(script)
    screen.result |= {"shell": shell, "script": script}
