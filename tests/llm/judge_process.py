"""`gristmill llm OPERATION …` in a process of its own, to be killed: the words are the arguments."""

import sys

from crawler.operations.llm import OPERATIONS
from tests.support.operations import answer_of

if __name__ == "__main__":
    sys.exit(answer_of(OPERATIONS[sys.argv[1]].loaded(), *sys.argv[2:]).code)
