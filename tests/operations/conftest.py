"""The corpus that the tests of the commands work on."""

from tests.commands.conftest import corpus  # noqa: F401  # a fixture
