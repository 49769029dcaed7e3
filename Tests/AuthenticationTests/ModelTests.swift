import Bytes
import Crypto
import Model
import Testing

@testable import Authentication

@Suite struct ModelTests {
    @Test func `a version depends on user and password, and shows neither`() {
        let credential = Credential(name: "ci", user: "u", password: Secret("p"))
        #expect(credential.version == Credential(name: "ci", user: "u", password: Secret("p")).version)
        #expect(credential.version != Credential(name: "ci", user: "u", password: Secret("q")).version)
        #expect(credential.version != Credential(name: "ci", user: "v", password: Secret("p")).version)
        #expect(credential.version != Credential(name: "cd", user: "u", password: Secret("p")).version)
        let shifted = Credential(name: "ci", user: "up", password: Secret("")).version
        #expect(shifted != credential.version)
        let secret = Credential(name: "ci", user: "user", password: Secret("hunter2"))
        #expect("\(secret)" == "credential ci")
    }

    @Test(arguments: [
        (NetworkProtocol.http, AuthenticationMethod.basic, false), (.https, .basic, true), (.http, .digest, true),
        (.http, .bearer, false), (.http, .negotiate, true), (.socks, .basic, false), (.http, .htmlForm, false),
    ])
    func `a space receives a credential securely when nobody on the way can read it`(
        kind: NetworkProtocol, method: AuthenticationMethod, securely: Bool
    ) {
        let space = ProtectionSpace(
            origin: Origin(host: "h", port: 1, protocol: kind), realm: nil, authenticationMethod: method)
        #expect(space.receivesCredentialSecurely == securely)
    }

    /// `é` as one scalar, and as `e` with a combining accent.
    private static let spellings = ["\u{E9}", "e\u{301}"]

    @Test func `names that differ in their bytes alone are two names`() {
        let (first, second) = (Self.spellings[0], Self.spellings[1])
        let address = IPAddress(v4: 1)
        #expect(ClientIdentity(address: address, user: first) != ClientIdentity(address: address, user: second))
        let origin = Origin(host: "h", port: 1, protocol: .http)
        func space(_ realm: String) -> ProtectionSpace {
            ProtectionSpace(origin: origin, realm: realm, authenticationMethod: .basic)
        }
        #expect(Set([space(first), space(second), space(first)]).count == 2)
        let versions = Self.spellings.map { CredentialVersion(name: $0, fingerprint: 1) }
        #expect(Set(versions).count == 2)
        #expect(versions[0].isNamed(first) && !versions[0].isNamed(second))
        #expect(
            Origin(host: first, port: 1, protocol: .http) != Origin(host: second, port: 1, protocol: .http))
    }

    @Test(arguments: spellings + ["\u{600}", "a@b"])
    func `a user is found in the name of its credential`(user: String) {
        let space = ProtectionSpace(
            origin: Origin(host: "h", port: 1, protocol: .http), realm: nil, authenticationMethod: .basic)
        let name = space.credentialName(of: user)
        #expect(space.user(ofCredentialNamed: name).map { Array($0.utf8) } == Array(user.utf8))
    }

    @Test func `a space has accepted the credential with those bytes alone`() throws {
        let spaces = ProtectionSpaces()
        let space = ProtectionSpace(
            origin: Origin(host: "h", port: 1, protocol: .http), realm: nil, authenticationMethod: .clientCertificate)
        for name in Self.spellings { spaces.noteAccepted(CredentialVersion(name: name, fingerprint: 1), for: space) }
        let known = try #require(spaces.known(host: Array("h".utf8).span, port: 1, protocol: .http)?.space(space))
        #expect(known.acceptedNames.map { Array($0.utf8) } == Self.spellings.reversed().map { Array($0.utf8) })
    }

    @Test func `a long realm is kept by its beginning and its digest`() {
        let origin = Origin(host: "h", port: 1, protocol: .http)
        func space(_ realm: String) -> ProtectionSpace {
            ProtectionSpace(origin: origin, realm: realm, authenticationMethod: .basic)
        }
        let longest = String(repeating: "R", count: 1024)
        #expect(space(longest).realm == longest)
        let accents = String(repeating: "\u{E9}", count: 60_000)
        for long in [String(repeating: "R", count: 120_000), accents, "R" + accents] {
            #expect(space(long) == space(long))
            #expect(space(long) != space(long + "x"))
            let kept = space(long).realm ?? ""
            #expect(kept.utf8.count < 400)
            #expect(long.utf8.starts(with: kept.utf8.prefix(255)))
            #expect(space(kept).realm == kept)
        }
    }
}
