import Bytes

/// The header of a message to a log daemon on this machine, as syslog(3) writes it: RFC 3164 section 4.1 without the
/// host. The daemon adds the host and the time. The form of RFC 5424 is for daemons on other machines: in a message on
/// the local socket rsyslog reads its version number as a program name.
public struct SyslogHeader: Sendable {
    /// The program and process.
    private let tag: String

    /// The facility of system daemons, times eight.
    private static let facility = 3 << 3

    public init(process: Int32) { tag = ">attache[\(process)]: " }

    public func append(to line: ByteBuffer, _ level: LogLine.Level) {
        line.append(UInt8(ascii: "<"))
        line.append(decimal: Self.facility + level.severity)
        line.append(tag)
    }
}

extension LogLine.Level {
    /// The severity of RFC 3164 section 4.1.1.
    fileprivate var severity: Int {
        switch self {
        case .error: 3
        case .warning: 4
        case .info: 6
        }
    }
}
