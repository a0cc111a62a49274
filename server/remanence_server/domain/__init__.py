"""The words of the product: owners, messages, cells, records, filters. Values, no behaviour."""
