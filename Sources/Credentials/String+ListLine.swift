extension Character {
    var isListBlank: Bool { self == " " || self == "\t" || self == "\r" || self == "\r\n" }
}

extension String {
    var withoutBlanksAtEnd: Substring {
        var line = self[...]
        while line.last?.isListBlank == true { line.removeLast() }
        return line
    }
}
