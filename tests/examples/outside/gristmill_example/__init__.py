"""One part of each kind that other packages can add to gristmill."""
