"""What others compute for us: embeddings, rerankers, language models. Behind small interfaces."""
