/// Something with members as a conversation writes it: the values of the first in one line, and others below, `NAME: VALUE`.
struct MembersText {
    private let members: [(name: String, pattern: String)]

    /// - Parameter names: the members of the first line.
    /// - Returns: nil for another number of words in the first line, or a line below without a colon.
    init?(_ names: [String], _ first: Substring, _ more: ArraySlice<Substring>) {
        let words = first.split(separator: " ").map { String($0) }
        guard words.count == names.count else { return nil }
        var members = zip(names, words).map { (name: $0, pattern: $1) }
        for line in more {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            members.append((String(line[..<colon]), String(line[line.index(after: colon)...].trimmed)))
        }
        self.members = members
    }

    /// - Parameter strict: members that must be named where they are there.
    /// - Returns: a sentence about the first that differs; nil: none does.
    func difference(
        from values: [String: String], strict: [String] = [], _ variables: inout Variables
    ) -> String? {
        for (name, pattern) in members {
            guard let value = values[name] else {
                if pattern == "-" { continue }
                return "there is no \(name)"
            }
            guard pattern != "-", variables.match(pattern, value) else { return "\(name) is “\(value)”" }
        }
        let named = members.map(\.name)
        let surplus = strict.first { values[$0] != nil && !named.contains($0) }
        return surplus.map { "a member that the conversation does not name: “\($0): \(values[$0] ?? "")”" }
    }
}
