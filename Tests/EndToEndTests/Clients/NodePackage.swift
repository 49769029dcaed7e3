import Foundation

/// A package as npm makes it, in a file below a folder of Apache's.
struct NodePackage {
    static let text = "module.exports = 42;\n"

    /// The path of the file, from the server's root.
    let path: String

    init(_ name: String, at apache: ApacheServer, below place: String = "pip") throws {
        path = "/\(place)/\(name)/sample.tgz"
        let folder = "\(apache.documents)/\(place)/\(name)"
        try FileManager.default.createDirectory(atPath: folder + "/package", withIntermediateDirectories: true)
        try Scratch.write(#"{"name":"attache-sample","version":"1.0.0"}"#, to: folder + "/package/package.json")
        try Scratch.write(Self.text, to: folder + "/package/index.js")
        let made = try Finished.run("tar", ["-czf", folder + "/sample.tgz", "-C", folder, "package"])
        guard made.succeeded else { throw Spawn.Failure(description: made.description) }
    }
}
