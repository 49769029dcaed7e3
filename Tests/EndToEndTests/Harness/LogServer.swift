import Foundation
import TestSupport

/// A real rsyslog that listens on a socket of its own, and keeps what it takes as it understands it: a line for each message.
final class LogServer {
    /// A message.
    struct Message {
        let facility: String
        let severity: String
        let program: String
        let process: String
        let text: String
    }

    let socket: String
    private let file: String
    private let child: Subprocess

    init() throws {
        let folder = Scratch.folder("rsyslog")
        socket = "\(folder)/log"
        file = "\(folder)/messages"
        // The input is that of a distribution's /dev/log, but for its place.
        try Scratch.write(
            """
            global(workDirectory="\(folder)")
            module(load="imuxsock" SysSock.Use="off")
            input(type="imuxsock" Socket="\(socket)")
            template(name="fields" type="string"
                string="%syslogfacility-text%\\t%syslogseverity-text%\\t%programname%\\t%procid%\\t%msg%\\n")
            action(type="omfile" file="\(file)" template="fields")

            """, to: "\(folder)/rsyslog.conf")
        child = try Subprocess(
            "rsyslogd", ["-n", "-f", "\(folder)/rsyslog.conf", "-i", "\(folder)/pid"])
        let path = socket
        guard Wait.until({ FileManager.default.fileExists(atPath: path) }) else {
            throw Failure(output: child.errorOutput)
        }
    }

    struct Failure: Error, CustomStringConvertible {
        let output: String
        var description: String { "rsyslogd does not listen: \(output)" }
    }

    /// The messages so far.
    var messages: [Message] {
        Scratch.read(file).split(separator: "\n").compactMap { line in
            let fields = line.split(separator: "\t", maxSplits: 4, omittingEmptySubsequences: false).map(String.init)
            guard fields.count == 5 else { return nil }
            return Message(
                facility: fields[0], severity: fields[1], program: fields[2], process: fields[3],
                text: fields[4].trimmingCharacters(in: .whitespaces))
        }
    }
}
