"""Whether verdicts are right: labelled data, other implementations, and the same pages judged twice."""
