"""`gristmill classify`: learn from judged texts, hold a model against labels, say why a text has its score."""

from __future__ import annotations

from crawler.operations.declared import Operation, by_name

OPERATIONS = by_name(
    Operation(
        "train", "learn from labels, or from texts to keep and texts to drop", "crawler.operations.classify_train:WORK"
    ),
    Operation(
        "eval", "hold a model against labels: AUC, calibration, thresholds", "crawler.operations.classify_model:EVAL"
    ),
    Operation("explain", "say which words give a text its score", "crawler.operations.classify_model:EXPLAIN"),
    Operation("perplexity", "score a corpus by an n-gram model; thirds", "crawler.operations.classify_perplexity:WORK"),
    Operation("import", "take a public model of fastText, .bin or .ftz", "crawler.operations.classify_import:WORK"),
    Operation(
        "card", "show a model's card; change its name, threshold or action", "crawler.operations.classify_model:CARD"
    ),
)
