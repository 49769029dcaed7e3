import Foundation

/// A flat package repository below Apache's /apt/, with the folders of a private apt.
struct AptRepository {
    let packages: [String]
    private let folder: String

    /// - Parameter name: of the repository, in the URLs; one repository per test.
    init(_ name: String, packages count: Int, at apache: ApacheServer, proxy: String) throws {
        folder = Scratch.folder("apt")
        packages = (1...count).map { "\(name)-\($0)" }
        let documents = "\(apache.documents)/apt/\(name)"
        mkdir(documents, 0o755)
        var index = ""
        for package in packages {
            let file = "\(documents)/\(package).deb"
            try Scratch.write("the content of \(package)\n", to: file)
            index += """
                Package: \(package)
                Version: 1.0
                Architecture: all
                Maintainer: nobody
                Filename: ./\(package).deb
                Size: \(Scratch.bytes(file).count)
                SHA256: \(try Hash.sha256(ofFile: file))
                Description: a package of the tests


                """
        }
        try Scratch.write(index, to: documents + "/Packages")
        for path in ["etc", "state/lists/partial", "cache/archives/partial", "download"] {
            try FileManager.default.createDirectory(atPath: "\(folder)/\(path)", withIntermediateDirectories: true)
        }
        try Scratch.write("", to: folder + "/state/status")
        try Scratch.write("deb [trusted=yes] \(apache.url("/apt/\(name)/")) ./\n", to: folder + "/etc/sources.list")
        // Read before every other file; it turns the system's own configuration off.
        let configuration = """
            Dir::Etc "\(folder)/etc";
            Dir::Etc::main "none";
            Dir::Etc::parts "none";
            Dir::State "\(folder)/state";
            Dir::State::status "\(folder)/state/status";
            Dir::Cache "\(folder)/cache";
            Dir::Log "\(folder)";
            APT::Sandbox::User "";
            Acquire::Languages "none";
            Acquire::Retries "0";
            Acquire::http::Proxy "\(proxy)";
            """
        try Scratch.write(configuration + "\n", to: folder + "/apt.conf")
    }

    func update() throws -> Finished { try run(["update"]) }

    /// Downloads every package; the texts of the files that arrived, in order.
    func download() throws -> (run: Finished, contents: [String]) {
        let run = try run(["download"] + packages)
        return (run, packages.map { Scratch.read("\(folder)/download/\($0)_1.0_all.deb") })
    }

    private func run(_ arguments: [String]) throws -> Finished {
        try Finished.run(
            "apt-get", ["-q"] + arguments, environment: ["APT_CONFIG": folder + "/apt.conf"],
            directory: folder + "/download")
    }
}
