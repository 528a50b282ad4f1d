"""Resources: the documents of which a schema consists, and the targets of references.

pointers        JSON pointers, and places in a schema
scanning        the resources and the names in a document
metaschemas     the documents that are included in the package
vocabularies    custom meta-schemas in `$schema`
library         resolves references
remembering     a resolver of the caller, asked once for each URI
"""
