# Applies one mutation of a table to Swift files, and writes them into a folder:
#
#     awk -v mutant=NAME -v folder=FOLDER -f Tests/refusals.awk Tests/refusals.mutants FILE...
#
# Its text has to be in one place of all files; anything else is an error.

FNR == 1 { count++ }

# The table.
count == 1 && /^[a-z0-9-]+: / { isIt = $1 == mutant ":" }
count == 1 && isIt && /^- / { old = old (old == "" ? "" : "\n") substr($0, 3) }
count == 1 && isIt && /^\+ / { new = new (new == "" ? "" : "\n") substr($0, 3) }
count == 1 { next }

{
    name[count] = FILENAME
    text[count] = text[count] $0 "\n"
}

END {
    if (old == "") fail("is not in the table")
    for (file = 2; file <= count; file++) {
        place = index(text[file], old)
        if (!place) continue
        rest = substr(text[file], place + length(old))
        if (found || index(rest, old)) fail("has a text that is in several places")
        found = file
        text[file] = substr(text[file], 1, place - 1) new rest
    }
    if (!found) fail("has a text that is nowhere")
    for (file = 2; file <= count; file++) {
        path = name[file]
        sub(/.*\//, "", path)
        printf "%s", text[file] > (folder "/" path)
    }
}

function fail(sentence) {
    print "refusals: the mutation " mutant " " sentence > "/dev/stderr"
    exit 1
}
