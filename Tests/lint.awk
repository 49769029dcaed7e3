# The house rules that need more than a search: no circle of folders in a target, no function over 60 lines, none with more
# than 6 parameters. Reads all Swift files below Sources twice, and prints each breach as a line:
#
#     awk -f Tests/lint.awk FILE... pass=2 FILE...
#
# Relies on the layout that `swift format` gives: a closing brace stands alone below the start of the line it belongs to.

FNR == 1 {
    split(FILENAME, parts, "/")
    target = parts[2]
    folder = FILENAME
    sub(/\/[^\/]*$/, "", folder)
    inText = 0
    split("", begun)
    signature = ""
}

# Takes string literals and comments out of the line; of a text over several lines all.
{
    line = $0
    quotes = gsub(/"""/, "", line)
    if (inText || quotes) {
        if (quotes % 2) inText = !inText
        if (inText || !quotes || line !~ /[{}]/) next
    }
    gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
    sub(/\/\/.*/, "", line)
}

# First reading: which types are declared, and where. A private one has no user outside of its file.
pass != 2 {
    declaration = line
    while (sub(/^(@[A-Za-z()]+|public|package|internal|open|final|indirect) +/, "", declaration)) { }
    if (declaration ~ /^(struct|class|enum|actor|protocol|typealias) /) {
        split(declaration, words, /[^A-Za-z0-9_]+/)
        if (!((target, words[2]) in home)) home[target, words[2]] = folder
    }
    next
}

# Second reading: which folders name types of which.
{
    tokens = line
    gsub(/[^A-Za-z0-9_]+/, " ", tokens)
    count = split(tokens, words, " ")
    for (number = 1; number <= count; number++) {
        if (words[number] !~ /^[A-Z]/ || !((target, words[number]) in home)) continue
        other = home[target, words[number]]
        if (other == folder || (folder, other) in uses) continue
        uses[folder, other] = FILENAME ":" FNR ": names " words[number] " of " other
        rooms[folder] = target
        rooms[other] = target
    }
}

# The length of functions: from the line that declares one to the brace below its beginning.
{
    indentation = match(line, /[^ ]/) - 1
    if (indentation >= 0) {
        text = substr(line, indentation + 1)
        if (text == "}" && (indentation in begun)) {
            lines = FNR - begun[indentation] + 1
            if (lines > 60) report(begun[indentation], "a function of " lines " lines; 60 are allowed")
        }
        if (text !~ /^\)/) delete begun[indentation]
        if (text ~ /^([a-z@][A-Za-z()@]* )*(func |init[?(<]|subscript[(<]|deinit |var [A-Za-z]+: .*\{$)/) {
            begun[indentation] = FNR
        }
    }
}

# The number of parameters: commas between the brackets of the signature, and not in brackets of their own.
{
    if (signature == "" && line ~ /^ *([a-z@][A-Za-z()@]* )*(func |init[?(<])/) {
        first = FNR
        signature = line
    } else if (signature != "") {
        signature = signature " " line
    }
    if (signature != "") readSignature()
}

function report(line, sentence) { print FILENAME ":" line ": " sentence }

# Counts once the brackets are closed; until then the next line belongs to the signature, too.
function readSignature(    rest, depth, place, character, commas) {
    rest = signature
    gsub(/->/, "", rest)
    sub(/^[^(]*/, "", rest)
    depth = 0
    commas = 0
    for (place = 1; place <= length(rest); place++) {
        character = substr(rest, place, 1)
        if (index("([{<", character)) depth++
        if (index(")]}>", character)) depth--
        if (depth == 1 && character == ",") commas++
        if (depth == 0) {
            if (commas >= 6) report(first, "a function with " commas + 1 " parameters; 6 are allowed")
            signature = ""
            return
        }
    }
}

# Folders that nobody uses, or that use nobody, are in no circle. Once they are taken away there are others; circles stay.
END {
    do {
        removed = 0
        for (room in rooms) {
            isUsed = 0
            isUser = 0
            for (other in rooms) {
                if ((room, other) in uses) isUser = 1
                if ((other, room) in uses) isUsed = 1
            }
            if (isUsed && isUser) continue
            delete rooms[room]
            removed = 1
        }
    } while (removed)
    for (room in rooms) {
        for (other in rooms) if ((room, other) in uses) print uses[room, other] ", which is in a circle with this folder"
    }
}
