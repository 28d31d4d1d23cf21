"""Why a page was kept or rejected, and what other thresholds would have done."""
