"""The Java classes this room uses, each with just the methods it calls.

They are declared by signature because reflection (pyjnius' `autoclass`) takes a second for these
classes at start, makes every call look for a fitting overload (twice the time of a call), and
sometimes takes the wrong one. Only the Java thread may use anything from here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

_LUCENE = "org/apache/lucene/"

# Short names of the classes in the descriptors below.
_PATHS: Mapping[str, str] = {
    "Analyzer": _LUCENE + "analysis/Analyzer",
    "AnalyzerUtils": "io/anserini/analysis/AnalyzerUtils",
    "ArrayList": "java/util/ArrayList",
    "BM25Similarity": _LUCENE + "search/similarities/BM25Similarity",
    "BooleanBuilder": _LUCENE + "search/BooleanQuery$Builder",
    "BooleanQuery": _LUCENE + "search/BooleanQuery",
    "BytesRef": _LUCENE + "util/BytesRef",
    "CharArraySet": _LUCENE + "analysis/CharArraySet",
    "CharSequence": "java/lang/CharSequence",
    "Class": "java/lang/Class",
    "Collection": "java/util/Collection",
    "CustomAnalyzer": _LUCENE + "analysis/custom/CustomAnalyzer",
    "CustomAnalyzerBuilder": _LUCENE + "analysis/custom/CustomAnalyzer$Builder",
    "DelimitedBoostFactory": _LUCENE + "analysis/boost/DelimitedBoostTokenFilterFactory",
    "Directory": _LUCENE + "store/Directory",
    "DirectoryReader": _LUCENE + "index/DirectoryReader",
    "Document": _LUCENE + "document/Document",
    "EnglishAnalyzer": _LUCENE + "analysis/en/EnglishAnalyzer",
    "FSDirectory": _LUCENE + "store/FSDirectory",
    "Field": _LUCENE + "document/Field",
    "FieldType": _LUCENE + "document/FieldType",
    "File": "java/io/File",
    "HashMap": "java/util/HashMap",
    "IndexOptions": _LUCENE + "index/IndexOptions",
    "IndexReader": _LUCENE + "index/IndexReader",
    "IndexSearcher": _LUCENE + "search/IndexSearcher",
    "IndexWriter": _LUCENE + "index/IndexWriter",
    "IndexWriterConfig": _LUCENE + "index/IndexWriterConfig",
    "IndexableField": _LUCENE + "index/IndexableField",
    "IndexableFieldType": _LUCENE + "index/IndexableFieldType",
    "Iterable": "java/lang/Iterable",
    "LeafContext": _LUCENE + "index/LeafReaderContext",
    "LeafReader": _LUCENE + "index/LeafReader",
    "List": "java/util/List",
    "LongField": _LUCENE + "document/LongField",
    "Map": "java/util/Map",
    "MatchAllDocsQuery": _LUCENE + "search/MatchAllDocsQuery",
    "MatchNoDocsQuery": _LUCENE + "search/MatchNoDocsQuery",
    "MergeObserver": _LUCENE + "index/MergePolicy$MergeObserver",
    "MergePolicy": _LUCENE + "index/MergePolicy",
    "Object": "java/lang/Object",
    "ObjectMapper": "com/fasterxml/jackson/databind/ObjectMapper",
    "ObjectWriter": "com/fasterxml/jackson/databind/ObjectWriter",
    "Occur": _LUCENE + "search/BooleanClause$Occur",
    "Path": "java/nio/file/Path",
    "Query": _LUCENE + "search/Query",
    "QueryBuilder": _LUCENE + "util/QueryBuilder",
    "SegmentInfos": _LUCENE + "index/SegmentInfos",
    "Selector": _LUCENE + "search/SortedNumericSelector$Type",
    "Set": "java/util/Set",
    "Similarity": _LUCENE + "search/similarities/Similarity",
    "Sort": _LUCENE + "search/Sort",
    "SortField": _LUCENE + "search/SortField",
    "StopFilter": _LUCENE + "analysis/StopFilter",
    "Store": _LUCENE + "document/Field$Store",
    "String": "java/lang/String",
    "Term": _LUCENE + "index/Term",
    "TermInSetQuery": _LUCENE + "search/TermInSetQuery",
    "TermQuery": _LUCENE + "search/TermQuery",
    "TopDocs": _LUCENE + "search/TopDocs",
    "TopFieldDocs": _LUCENE + "search/TopFieldDocs",
    "TieredMergePolicy": _LUCENE + "index/TieredMergePolicy",
    "WhitespaceAnalyzer": _LUCENE + "analysis/core/WhitespaceAnalyzer",
    "WhitespaceFactory": _LUCENE + "analysis/core/WhitespaceTokenizerFactory",
}

# Members of each class: constructors as "(arguments)", methods as "name(arguments)result" and
# static ones with a leading "static "; "static name:type" is a constant. Types are the short
# names above or a Java primitive, parted by commas; "[]" marks an array.
_MEMBERS: Mapping[str, Sequence[str]] = {
    "AnalyzerUtils": ["static analyze(Analyzer,String)List"],
    "ArrayList": ["()", "(int)", "add(Object)boolean"],
    "BM25Similarity": ["(float,float)"],
    "BooleanBuilder": ["()", "add(Query,Occur)BooleanBuilder", "build()BooleanQuery"],
    "BooleanQuery": [],
    "BytesRef": ["(CharSequence)"],
    "CharArraySet": ["static EMPTY_SET:CharArraySet"],
    "CustomAnalyzer": ["static builder()CustomAnalyzerBuilder"],
    "CustomAnalyzerBuilder": [
        "withTokenizer(Class,String[])CustomAnalyzerBuilder",
        "addTokenFilter(Class,String[])CustomAnalyzerBuilder",
        "build()CustomAnalyzer",
    ],
    "DirectoryReader": [
        "static open(IndexWriter)DirectoryReader",
        "static openIfChanged(DirectoryReader)DirectoryReader",
        "numDocs()int",
        "numDeletedDocs()int",
        "docFreq(Term)int",
        "getDocCount(String)int",
        "getSumTotalTermFreq(String)long",
        "leaves()List",
        "close()void",
    ],
    "Document": ["()", "add(IndexableField)void"],
    "EnglishAnalyzer": ["(CharArraySet)"],
    "FSDirectory": ["static open(Path)FSDirectory", "close()void"],
    "Field": ["(String,CharSequence,IndexableFieldType)", "setStringValue(String)void"],
    "FieldType": [
        "()",
        "setTokenized(boolean)void",
        "setOmitNorms(boolean)void",
        "setIndexOptions(IndexOptions)void",
        "freeze()void",
    ],
    "File": ["(String)", "toPath()Path"],
    "HashMap": ["()", "put(Object,Object)Object", "entrySet()Set"],
    "IndexOptions": ["static DOCS:IndexOptions", "static DOCS_AND_FREQS:IndexOptions"],
    "IndexSearcher": [
        "(IndexReader)",
        "static setMaxClauseCount(int)void",
        "setSimilarity(Similarity)void",
        "search(Query,int,Sort)TopFieldDocs",
    ],
    "IndexWriter": [
        "(Directory,IndexWriterConfig)",
        "addDocument(Iterable)long",
        "deleteDocuments(Query[])long",
        "deleteAll()long",
        "setLiveCommitData(Iterable)void",
        "commit()long",
        "forceMergeDeletes(boolean)MergeObserver",
        "isOpen()boolean",
        "rollback()void",
        "close()void",
    ],
    "IndexWriterConfig": [
        "(Analyzer)",
        "setRAMBufferSizeMB(double)IndexWriterConfig",
        "setCommitOnClose(boolean)IndexWriterConfig",
        "setMergePolicy(MergePolicy)IndexWriterConfig",
    ],
    "LeafContext": ["reader()LeafReader"],
    "LeafReader": ["checkIntegrity()void"],
    "List": ["size()int", "get(int)Object"],
    "LongField": [
        "(String,long,Store)",
        "setLongValue(long)void",
        "static newRangeQuery(String,long,long)Query",
        "static newSetQuery(String,long[])Query",
        "static newSortField(String,boolean,Selector)SortField",
    ],
    "Map": ["get(Object)Object"],
    "MatchAllDocsQuery": ["()"],
    "MatchNoDocsQuery": ["()"],
    "MergeObserver": [],
    "MergePolicy": [],
    "ObjectMapper": ["()", "writerFor(Class)ObjectWriter"],
    "ObjectWriter": ["writeValueAsString(Object)String"],
    "Occur": [
        "static MUST:Occur",
        "static SHOULD:Occur",
        "static FILTER:Occur",
        "static MUST_NOT:Occur",
    ],
    "Path": [],
    "Query": [],
    "QueryBuilder": ["(Analyzer)", "createBooleanQuery(String,String)Query"],
    "SegmentInfos": [
        "static readLatestCommit(Directory)SegmentInfos",
        "getUserData()Map",
        "files(boolean)Collection",
    ],
    "Selector": ["static MIN:Selector"],
    "Set": [],
    "Sort": ["(SortField[])"],
    "SortField": ["static FIELD_SCORE:SortField"],
    "StopFilter": ["static makeStopSet(String[])CharArraySet"],
    "Store": ["static NO:Store"],
    "String": ["static join(CharSequence,Iterable)String"],
    "Term": ["(String,String)"],
    "TermInSetQuery": ["(String,Collection)"],
    "TermQuery": ["(Term)"],
    "TopDocs": [],
    "TopFieldDocs": [],
    "TieredMergePolicy": ["()", "setForceMergeDeletesPctAllowed(double)TieredMergePolicy"],
    "WhitespaceAnalyzer": ["(int)"],
}

_PRIMITIVES: Mapping[str, str] = {
    "boolean": "Z",
    "double": "D",
    "float": "F",
    "int": "I",
    "long": "J",
    "void": "V",
}


class LuceneTypes:
    """The classes as attributes: `types.IndexWriter`."""

    def __init__(self, classes: Mapping[str, Any], class_of: Callable[[str], Any]) -> None:
        self._classes = classes
        self._class_of = class_of

    def class_of(self, name: str) -> Any:
        """The `java.lang.Class` of a class, for methods that take one."""
        return self._class_of(_PATHS[name])

    def __getattr__(self, name: str) -> Any:
        try:
            found = self._classes[name]
        except KeyError:
            raise AttributeError(name) from None
        # Found in the instance from now on.
        setattr(self, name, found)
        return found


@cache
def lucene_types() -> LuceneTypes:
    """Declare the classes. The VM must run."""
    import jnius

    # The names in descriptors are looked up here when a call returns such an object.
    return LuceneTypes(
        {name: _declare(jnius, _PATHS[name], members) for name, members in _MEMBERS.items()},
        jnius.find_javaclass,
    )


def _declare(jnius: Any, path: str, members: Sequence[str]) -> Any:
    attributes: dict[str, Any] = {"__javaclass__": path}
    constructors: list[tuple[str, bool]] = []
    for member in members:
        static = member.startswith("static ")
        name, separator, rest = member.removeprefix("static ").partition("(")
        if not separator:
            name, _, type_name = name.partition(":")
            attributes[name] = jnius.JavaStaticField(_descriptor(type_name))
            continue
        arguments, _, result = rest.partition(")")
        parts = "".join(_descriptor(part) for part in arguments.split(",") if part)
        signature = f"({parts}){_descriptor(result or 'void')}"
        if not name:
            constructors.append((signature, False))
        elif static:
            attributes[name] = jnius.JavaStaticMethod(signature)
        else:
            attributes[name] = jnius.JavaMethod(signature)
    attributes["__javaconstructor__"] = constructors
    return jnius.MetaJavaClass(path.rpartition("/")[2], (jnius.JavaClass,), attributes)


def _descriptor(type_name: str) -> str:
    if type_name.endswith("[]"):
        return "[" + _descriptor(type_name.removesuffix("[]"))
    return _PRIMITIVES.get(type_name) or f"L{_PATHS[type_name]};"
