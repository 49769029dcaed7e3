import Foundation

/// A package index with one wheel below Apache's /pip/.
struct PythonIndex {
    static let module = "attache_sample"

    let url: String
    let host: String

    init(_ name: String, at apache: ApacheServer) throws {
        let documents = "\(apache.documents)/pip/\(name)/attache-sample"
        try FileManager.default.createDirectory(atPath: documents, withIntermediateDirectories: true)
        let wheel = "\(Self.module)-1.0-py3-none-any.whl"
        let script = """
            import sys, zipfile
            with zipfile.ZipFile(sys.argv[1], "w") as wheel:
                info = "\(Self.module)-1.0.dist-info/"
                wheel.writestr("\(Self.module).py", "VALUE = 42\\n")
                wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: attache-sample\\nVersion: 1.0\\n")
                wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
                wheel.writestr(info + "RECORD", "")
            """
        let made = try Finished.run("python3", ["-c", script, "\(documents)/\(wheel)"])
        guard made.succeeded else { throw Spawn.Failure(description: made.description) }
        try Scratch.write("<!DOCTYPE html><a href=\"\(wheel)\">\(wheel)</a>\n", to: documents + "/index.html")
        url = apache.url("/pip/\(name)/")
        host = "127.0.0.1:\(apache.port)"
    }

    /// pip with nothing but this index.
    func pip(_ arguments: [String], through proxy: String) throws -> Finished {
        let options = [
            "--isolated", "--disable-pip-version-check", "--no-cache-dir", "--no-input", "--retries", "0", "--no-deps",
            "--proxy", proxy, "--trusted-host", host, "--index-url", url,
        ]
        return try Finished.run("python3", ["-m", "pip"] + arguments + options + ["attache-sample"])
    }
}
