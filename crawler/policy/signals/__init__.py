"""AI opt-out detectors: one small module each, listed in `registry`. They read bytes or text and return `Signal`s."""
