"""Which memories bear on a question: recall channels, fusion, calibration, reranking."""
