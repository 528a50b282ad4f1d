"""Resources: the documents that a schema consists of, and the targets of references.

pointers        JSON pointers, and places in a schema
scanning        the resources and the names in a document
metaschemas     the documents that come with the package
vocabularies    `$schema` of a caller's own
library         resolves references
"""
