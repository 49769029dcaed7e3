# Prints each token of Swift files that Tests/mutants may change: file, line, column in bytes, the token, and the new one.
# It relies on `swift format`, which puts blanks around operators with two operands.

# The position behind the string literal that begins at `i` with that many signs #. Interpolations belong to it.
function stringEnd(text, i, signs,    depth, closing) {
    closing = "\"" signs
    for (i++; i <= length(text); i++) {
        if (substr(text, i, length(closing)) == closing) return i + length(closing)
        if (substr(text, i, 1 + length(signs)) != "\\" signs) continue
        i += 1 + length(signs)
        if (substr(text, i, 1) != "(") continue
        depth = 1
        for (i++; i <= length(text) && depth > 0; i++) {
            if (substr(text, i, 1) == "(") depth++
            else if (substr(text, i, 1) == ")") depth--
            else if (substr(text, i, 1) == "\"") i = stringEnd(text, i, "") - 1
        }
        i--
    }
    return i
}

function quotes(count,    text) {
    while (length(text) < count) text = text "\""
    return text
}

# The line with a quotation mark in place of each byte of a string, and without comments.
function masked(text,    out, i, end, signs) {
    out = ""
    i = 1
    while (i <= length(text)) {
        if (inComment) {
            end = index(substr(text, i), "*/")
            inComment = end == 0
            end = inComment ? length(text) + 1 : i + end + 1
        } else if (multiline != "") {
            end = index(substr(text, i), multiline)
            end = end == 0 ? length(text) + 1 : i + end - 1 + length(multiline)
            if (end <= length(text) || substr(text, end - length(multiline)) == multiline) multiline = ""
        } else if (substr(text, i, 2) == "//") {
            break
        } else if (substr(text, i, 2) == "/*") {
            inComment = 1
            end = i + 2
        } else if (match(substr(text, i), /^#*"/)) {
            signs = substr(text, i, RLENGTH - 1)
            i += RLENGTH - 1
            out = out quotes(RLENGTH - 1)
            if (substr(text, i, 3) == "\"\"\"") {
                multiline = "\"\"\"" signs
                end = i + 3
            } else {
                end = stringEnd(text, i, signs)
            }
        } else {
            out = out substr(text, i, 1)
            i++
            continue
        }
        out = out quotes(end - i)
        i = end
    }
    return out
}

BEGIN {
    count = split("&& || < <= > >= == != + - &+ &-", tokens, " ")
    for (i = 1; i < count; i += 2) {
        other[tokens[i]] = tokens[i + 1]
        other[tokens[i + 1]] = tokens[i]
    }
    other["true"] = "false"
    other["false"] = "true"
}

FNR == 1 {
    inComment = 0
    multiline = ""
}

{
    code = /["\/]/ || inComment || multiline != "" ? masked($0) : $0
    if (code ~ /^ *#(if|elseif)/ || code ~ / func [^ ]+ \(/) next
    position = 1
    while (match(substr(code, position), /[^ ]+/)) {
        column = position + RSTART - 1
        word = substr(code, column, RLENGTH)
        position = column + RLENGTH
        # Strings are joined by +, and have no other operator.
        isText = substr(code, column - 2, 1) == "\"" || substr(code, position + 1, 1) == "\""
        if (word in other && word !~ /[a-z]/) {
            if (!(isText && word ~ /^[-+]$/)) print FILENAME, FNR, column, word, other[word]
            continue
        }
        for (start = column; match(substr(code, start, position - start), /true|false/); start = end) {
            column = start + RSTART - 1
            end = column + RLENGTH
            token = substr(code, column, RLENGTH)
            if (substr(code, column - 1, 1) !~ /[A-Za-z0-9_.`]/ && substr(code, end, 1) !~ /[A-Za-z0-9_`:]/) {
                print FILENAME, FNR, column, token, other[token]
            }
        }
    }
}
