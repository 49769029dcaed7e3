import Bytes

/// What stands before a message to a log daemon of the same machine, as that of syslog(3) does: RFC 3164 section 4.1 without
/// the host. The daemon adds that, and the time. The form of RFC 5424 is for daemons on other machines: of one that comes by
/// its local socket rsyslog takes the version number for the name of a program.
public struct SyslogHeader: Sendable {
    /// Program and process.
    private let tag: String

    /// Of system daemons, times eight.
    private static let facility = 3 << 3

    public init(process: Int32) { tag = ">attache[\(process)]: " }

    public func append(to line: ByteBuffer, _ level: LogLevel) {
        line.append(UInt8(ascii: "<"))
        line.append(decimal: Self.facility + level.severity)
        line.append(tag)
    }
}

extension LogLevel {
    /// RFC 3164 section 4.1.1.
    fileprivate var severity: Int {
        switch self {
        case .error: 3
        case .warning: 4
        case .info: 6
        }
    }
}
