"""Components as people know them: identifiers, descriptions, who is who in another fit."""
