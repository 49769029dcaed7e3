import Bytes

/// What stands before a message to a log daemon (RFC 5424 section 6.2).
public struct SyslogHeader: Sendable {
    /// The kind of a line, as its MSGID.
    public enum Kind: Sendable {
        case access
        case event
    }

    /// Host, program and process, with blanks around them.
    private let origin: String

    /// Of system daemons, times eight.
    private static let facility = 3 << 3

    /// - Parameter host: one that RFC 5424 has no room for counts as unknown.
    public init(host: String, process: Int32) {
        let isName = (1...255).contains(host.utf8.count) && host.utf8.allSatisfy { (0x21..<0x7F).contains($0) }
        origin = " \(isName ? host : "-") attache \(process) "
    }

    public func append(to line: ByteBuffer, at epochMilliseconds: Int, _ level: LogLevel, _ kind: Kind) {
        line.append(UInt8(ascii: "<"))
        line.append(decimal: Self.facility + level.severity)
        line.append(">1 ")
        line.append(time: epochMilliseconds)
        line.append(origin)
        switch kind {
        case .access: line.append("access - ")
        case .event: line.append("event - ")
        }
    }
}

extension LogLevel {
    /// RFC 5424 section 6.2.1.
    fileprivate var severity: Int {
        switch self {
        case .error: 3
        case .warning: 4
        case .info: 6
        }
    }
}
