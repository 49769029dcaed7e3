import Glibc

/// The process's environment.
enum Environment {
    static func value(of name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }

    static var all: [String: String] {
        var all: [String: String] = [:]
        var place = unsafe environ
        while let entry = unsafe place.pointee {
            let text = unsafe String(cString: entry)
            if let equals = text.firstIndex(of: "=") {
                all[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            unsafe place += 1
        }
        return all
    }
}
