import Foundation
import TestSupport

/// An `openssl s_server` for `lab.example` and 127.0.0.1 that signs itself.
final class LabServer {
    /// Starts one in the folder, and puts its address into `$server` and its key pin into `$pin`. One that was there before
    /// has its address.
    static let start = """
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -keyout key.pem -out cert.pem \
            -subj '/CN=lab appliance' -addext 'subjectAltName=DNS:lab.example,IP:127.0.0.1' -days 30 2> /dev/null
        : > log
        openssl s_server -accept ${server:-127.0.0.1:0} -key key.pem -cert cert.pem -www > log 2>&1 &
        child=$!
        trap "kill $child 2> /dev/null" EXIT
        for try in $(seq 1200); do grep -q ACCEPT log && break; sleep 0.05; done
        chosen=$(sed -n 's/^ACCEPT //p' log)
        server=${chosen:-$server}
        pin=sha256/$(openssl x509 -in cert.pem -noout -pubkey | openssl pkey -pubin -outform der \
            | openssl dgst -sha256 -binary | base64)

        """

    /// Runs lines of shell beside one. In the rules `PIN` and `PORT` are its.
    static func run(_ lines: String, rules: String = "") throws -> CommandResult {
        let folder = try Folder(["proxy.conf": rules])
        return try AttacheProgram.run(
            start + "sed -i \"s|PIN|$pin|; s|PORT|${server##*:}|\" proxy.conf\n" + lines, in: folder
        ).replacing(folder.url.path, with: ".")
    }

    let address: String
    private let process = ChildProcess()

    /// One that runs as long as this.
    init(in folder: Folder) throws {
        let said = Pipe()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", Self.start + "echo $server; trap 'kill $child; exit' TERM; wait"]
        process.currentDirectoryURL = folder.url
        process.standardOutput = said
        try process.start()
        address = String(decoding: said.fileHandleForReading.availableData, as: UTF8.self)
            .trimmingCharacters(in: .newlines)
    }

    deinit { process.terminate() }
}
