import Authentication
import Bytes
import Credentials
import Crypto
import Foundation
import IO
import Model
import TLS
import TestSupport
import Testing

/// Files of secrets that are written again with the same content, which sets the credential again.
struct RewrittenFileTests {
    /// A file in a folder of its own, as Kubernetes mounts a secret: `password` is a link to `..data/password`, and `..data` one
    /// to the folder of a version.
    private struct Mount {
        let folder = FileManager.default.temporaryDirectory.path + "/attache-mount-\(UUID().uuidString)"
        var path: String { folder + "/password" }

        init(_ content: String) throws {
            try write(content, version: "..1")
            symlink("..1", folder + "/..data")
            symlink("..data/password", path)
        }

        private func write(_ content: String, version: String) throws {
            try FileManager.default.createDirectory(atPath: "\(folder)/\(version)", withIntermediateDirectories: true)
            try content.write(toFile: "\(folder)/\(version)/password", atomically: false, encoding: .utf8)
        }

        func swap(_ content: String) throws {
            try write(content, version: "..2")
            symlink("..2", folder + "/..data_tmp")
            rename(folder + "/..data_tmp", folder + "/..data")
        }
    }

    private enum UpstreamPath: CaseIterable {
        case writtenOver, replaced, touched, movedHere, swapped

        func happen(to mount: Mount, _ content: String) throws {
            switch self {
            case .writtenOver: try content.write(toFile: mount.path, atomically: false, encoding: .utf8)
            case .replaced: try content.write(toFile: mount.path, atomically: true, encoding: .utf8)
            case .touched: utimes(mount.path, nil)
            case .movedHere:
                try content.write(toFile: mount.path + ".new", atomically: false, encoding: .utf8)
                var old = [timeval(tv_sec: 1, tv_usec: 0), timeval(tv_sec: 1, tv_usec: 0)]
                utimes(mount.path + ".new", &old)
                rename(mount.path + ".new", mount.path)
            case .swapped: try mount.swap(content)
            }
        }
    }

    private func source(_ path: String) -> CredentialSource {
        .password(user: .literal(RedactedText("u")), password: .file(path))
    }

    private func credentials(_ content: CredentialSource) -> ConfiguredCredentials {
        ConfiguredCredentials([ConfiguredCredential(name: "ci", content: content)], environment: [:])
    }

    /// Makes the change until the clock of the file system tells it from the one before.
    private func change(_ path: String, _ change: () throws -> Void) throws {
        let before = SmallFile.Stamp(path: path)
        let isOther = try Wait.until {
            try change()
            return SmallFile.Stamp(path: path) != before
        }
        #expect(isOther)
    }

    @Test(arguments: UpstreamPath.allCases)
    private func `a file that is written again sets its credential anew, once`(way: UpstreamPath) throws {
        let mount = try Mount("secret\n")
        let credentials = credentials(source(mount.path))
        #expect(!credentials.hasNewFiles, "it was never read")
        #expect(credentials.refresh().setAgain.isEmpty)
        let version = try credentials.credential(named: "ci").version
        #expect(!credentials.hasNewFiles)
        try change(mount.path) { try way.happen(to: mount, "secret\n") }
        #expect(credentials.hasNewFiles)
        let refresh = credentials.refresh()
        #expect(refresh.setAgain == [version] && refresh.changed.isEmpty)
        #expect(!credentials.hasNewFiles)
        #expect(credentials.refresh().setAgain.isEmpty)
        // Another content is another version, and nothing else.
        try change(mount.path) { try "other\n".write(toFile: mount.path, atomically: false, encoding: .utf8) }
        let other = credentials.refresh()
        #expect(other.setAgain.isEmpty && other.replaced == ["ci"])
    }

    @Test func `a file that was away for a while sets its credential anew when it is back`() throws {
        let file = try TemporaryFile("secret")
        let credentials = credentials(source(file.path))
        credentials.refresh()
        try file.remove()
        #expect(credentials.refresh().errors.count == 1)
        try change(file.path) { try file.write("secret") }
        #expect(credentials.refresh().setAgain.map(\.name) == ["ci"])
    }

    @Test func `rules that are read again know how the files were`() throws {
        let file = try TemporaryFile("secret")
        let (first, second) = (credentials(source(file.path)), credentials(source(file.path)))
        first.refresh()
        try change(file.path) { try file.write("secret") }
        second.keep(valuesOf: first)
        #expect(second.refresh().setAgain.map(\.name) == ["ci"])
        let third = credentials(source(file.path))
        third.keep(valuesOf: second)
        #expect(third.refresh().setAgain.isEmpty)
    }

    private static let literal = ValueSource.literal(RedactedText("x"))

    private static func grant(_ proof: CredentialSource.OAuth.Proof, _ grant: CredentialSource.OAuth.Grant) throws
        -> CredentialSource
    {
        .oauth(
            CredentialSource.OAuth(
                server: .endpoint(try #require(HTTPEndpoint("https://id/"))), clientID: "c", proof: proof, grant: grant,
                scopes: [],
                audience: nil))
    }

    private static func signature(_ access: ValueSource, _ secret: ValueSource, _ token: ValueSource?)
        -> CredentialSource
    {
        .signature(
            .aws(
                SignatureSource.AWS(
                    region: "r", service: "s", keys: .values(access: access, secret: secret, token: token),
                    signsPayload: true)))
    }

    @Test func `every file that a value is read from counts`() throws {
        let pair = try CertificateAuthority.make(host: "test", at: SystemClock.wallTime).mint(
            for: ServerName("device.example"), at: SystemClock.wallTime)
        let certificate = try TemporaryFile(pair.leaf.pem)
        let key = try TemporaryFile(try pair.key.pem().withBytes { String(decoding: $0.array, as: UTF8.self) })
        let file = try TemporaryFile("secret")
        let (value, literal) = (ValueSource.file(file.path), Self.literal)
        let pem = CredentialSource.Identity.pem(certificate: certificate.path, key: key.path, passphrase: nil)
        let sources: [(CredentialSource, TemporaryFile)] = [
            (.password(user: value, password: literal), file), (.password(user: literal, password: value), file),
            (.token(value), file), (.placed(.token(value), []), file),
            (.kerberos(CredentialSource.Kerberos(principal: "a@R", proof: .keytab(file.path))), file),
            (.kerberos(CredentialSource.Kerberos(principal: "a@R", proof: .password(value))), file),
            (try Self.grant(.secret(value, inBody: false), .clientCredentials), file),
            (try Self.grant(.none, .refreshToken(value)), file),
            (try Self.grant(.none, .assertion(TokenSource(.value(value)))), file),
            (try Self.grant(.key(path: key.path, passphrase: nil, id: nil, audience: nil), .clientCredentials), key),
            (
                try Self.grant(
                    .certificate(path: certificate.path, key: key.path, passphrase: nil), .clientCredentials),
                certificate
            ),
            (Self.signature(value, literal, nil), file), (Self.signature(literal, value, nil), file),
            (Self.signature(literal, literal, value), file), (.identity(pem), certificate), (.identity(pem), key),
            (.identity(.pem(certificate: certificate.path, key: key.path, passphrase: value)), file),
        ]
        for (source, file) in sources {
            let credentials = credentials(source)
            #expect(credentials.refresh().errors == [], "\(source)")
            try change(file.path) { utimes(file.path, nil) }
            #expect(credentials.refresh().setAgain.map(\.name) == ["ci"], "\(source)")
        }
        // Tickets come and go in a cache.
        let cache = credentials(.kerberos(CredentialSource.Kerberos(principal: "a@R", proof: .cache(.file(file.path)))))
        cache.refresh()
        try change(file.path) { utimes(file.path, nil) }
        #expect(!cache.hasNewFiles && cache.refresh().setAgain.isEmpty)
    }
}
