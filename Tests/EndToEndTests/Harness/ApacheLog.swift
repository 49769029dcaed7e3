/// An access log of Apache's, in the order in which the requests began: each thread writes its line when its response is out,
/// and the next request may be faster.
enum ApacheLog {
    /// Begins the format of each line.
    static let began = "%{usec}t\\t"

    /// The whole lines that are there, without their beginning.
    static func lines(in folder: String) -> [Substring] {
        let text = Scratch.read(folder + "/access.log")
        let lines = text.prefix(through: text.lastIndex(of: "\n") ?? text.startIndex).split(separator: "\n")
        return lines.compactMap { line -> (Int, Substring)? in
            guard let tab = line.firstIndex(of: "\t"), let time = Int(line[..<tab]) else { return nil }
            return (time, line[line.index(after: tab)...])
        }.sorted { $0.0 < $1.0 }.map(\.1)
    }
}
