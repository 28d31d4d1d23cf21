"""Image and text pairs beside img2dataset, on a web of hosts that refuse in many ways."""
