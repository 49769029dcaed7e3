# Writes the files of Sources that Tests/mutants changes, below the folder `to`, and a file Mutants.swift for each target. Its
# input is a line for each change: file, line, column in bytes, old and new token, and the change's number. A token becomes
# an operator or a call of its own: it does what the new token does if ATTACHE_MUTANT is its number, and else what the old one
# does. An operator's name is the token and the digits of its number, each as a character that an operator may have.

function name(token, number,    out, i) {
    out = token
    for (i = 1; i <= length(number); i++) out = out digits[substr(number, i, 1)]
    return out
}

function declare(target, text) {
    declared[target] = declared[target] text "\n"
}

# One function for a pair of operands; `head` has its generic parameters and operands, `result` what it returns.
function operation(target, symbol, attribute, generic, left, right, result, number, old, new) {
    declare(target, attribute "func " symbol generic "(a: " left ", b: " right ") " result " {")
    declare(target, "    mutant == " number " ? a " new " b : a " old " b\n}")
}

function switched(target, old, new, number,    symbol, shy) {
    if (old ~ /[a-z]/) return "mutated(" number ", " old ")"
    symbol = name(old, number)
    shy = "@_disfavoredOverload "
    if (old ~ /^(&&|\|\|)$/) {
        declare(target, "infix operator " symbol ": Logical" (old == "&&" ? "Con" : "Dis") "junctionPrecedence")
        declare(target, "func " symbol "(a: Bool, b: @autoclosure () throws -> Bool) rethrows -> Bool {")
        declare(target, "    try mutant == " number " ? a " new " b() : a " old " b()\n}")
    } else if (old ~ /[<>=]/) {
        declare(target, "infix operator " symbol ": ComparisonPrecedence")
        if (old ~ /^[=!]=$/) {
            operation(target, symbol, "", "<T: Equatable>", "T", "T", "-> Bool", number, old, new)
            operation(target, symbol, shy, "<T: Equatable>", "T?", "T?", "-> Bool", number, old, new)
            operation(target, symbol, shy, "<T>", "T?", "_OptionalNilComparisonType", "-> Bool", number, old, new)
        } else {
            operation(target, symbol, "", "<T: Comparable>", "T", "T", "-> Bool", number, old, new)
        }
        operation(target, symbol, shy, "<T: BinaryInteger, U: BinaryInteger>", "T", "U", "-> Bool", number, old, new)
    } else {
        declare(target, "infix operator " symbol ": AdditionPrecedence")
        if (old ~ /&/) {
            operation(target, symbol, "", "<T: FixedWidthInteger>", "T", "T", "-> T", number, old, new)
        } else {
            operation(target, symbol, "", "<T: AdditiveArithmetic>", "T", "T", "-> T", number, old, new)
            declare(target, shy "func " symbol "<T: Strideable>(a: T, b: T.Stride) -> T {")
            declare(target, "    a.advanced(by: mutant == " number " ? " (old == "+" ? "0 - b : b" : "b : 0 - b") ")\n}")
        }
    }
    return symbol
}

BEGIN {
    # Box drawings, U+2500 and the nine after it.
    for (i = 0; i < 10; i++) digits[i] = "\342\224" sprintf("%c", 128 + i)
}

{
    split($1, parts, "/")
    targets[parts[2]] = 1
    count[$1]++
    line[$1, count[$1]] = $2
    column[$1, count[$1]] = $3
    old[$1, count[$1]] = $4
    new[$1, count[$1]] = $5
    number[$1, count[$1]] = $6
}

END {
    for (file in count) {
        split(file, parts, "/")
        folder = to "/" file
        sub(/\/[^\/]*$/, "", folder)
        system("mkdir -p " folder)
        for (at = 1; (getline text < file) > 0; at++) {
            # From right to left, so that the columns stay true.
            while (1) {
                best = 0
                for (i = 1; i <= count[file]; i++) {
                    if (line[file, i] == at && !done[file, i] && (best == 0 || column[file, i] > column[file, best])) best = i
                }
                if (best == 0) break
                done[file, best] = 1
                text = substr(text, 1, column[file, best] - 1) \
                    switched(parts[2], old[file, best], new[file, best], number[file, best]) \
                    substr(text, column[file, best] + length(old[file, best]))
            }
            print text > (to "/" file)
        }
        close(to "/" file)
    }
    for (target in targets) {
        path = to "/Sources/" target "/Mutants.swift"
        print "import Glibc\n\nlet mutant = getenv(\"ATTACHE_MUTANT\").flatMap { Int(String(cString: $0)) } ?? 0\n" > path
        print "func mutated(_ number: Int, _ value: Bool) -> Bool { mutant == number ? !value : value }\n" > path
        printf "%s", declared[target] > path
        close(path)
    }
}
