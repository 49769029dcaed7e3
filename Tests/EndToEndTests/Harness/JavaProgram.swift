import Testing

/// A program in Java's source text that trusts one authority. The JDK compiles it at each run.
struct JavaProgram {
    private let folder = Scratch.folder("java")
    private var store: String { folder + "/trust.p12" }

    init(_ source: String, trusting authority: String) throws {
        let imported = try Finished.run(
            "keytool",
            [
                "-importcert", "-noprompt", "-alias", "proxy", "-file", authority, "-keystore", store, "-storetype",
                "PKCS12", "-storepass", "changeit",
            ])
        #expect(imported.succeeded, "\(imported)")
        try Scratch.write(source, to: folder + "/Fetch.java")
    }

    /// Runs the class `Fetch`.
    /// - Parameter options: options of the virtual machine.
    func run(_ words: [String], options: [String] = []) throws -> Finished {
        let trust = ["-Djavax.net.ssl.trustStore=\(store)", "-Djavax.net.ssl.trustStorePassword=changeit"]
        return try Finished.run("java", trust + options + ["Fetch.java"] + words, directory: folder)
    }
}
