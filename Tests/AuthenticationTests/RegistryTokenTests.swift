import Bytes
import Crypto
import Model
import Testing

@testable import Authentication

/// The tokens of registries: scopes as sets, the token server that the rule file names, and the parts of a registry.
@Suite struct RegistryTokenTests {
    private func scopes(_ text: String) -> RegistryScopes { RegistryScopes(text.utf8) }

    // MARK: - Scopes

    @Test(arguments: [
        ("repository:team/app:pull,push", "repository:team/app:pull,push"),
        ("repository:team/app:push,pull", "repository:team/app:pull,push"),
        ("repository:a:pull repository:a:push", "repository:a:pull,push"),
        ("repository:b:pull repository:a:pull", "repository:a:pull repository:b:pull"),
        ("registry:catalog:*", "registry:catalog:*"),
        ("repository(plugin):a/b:pull", "repository(plugin):a/b:pull"),
        ("repository:reg.example.com:5000/a/b:pull", "repository:reg.example.com:5000/a/b:pull"),
        ("repository:a__b/c-d.e:pull", "repository:a__b/c-d.e:pull"),
        ("", ""), ("repository", ""), ("repository:a", ""), ("repository::pull", ""), (":a:pull", ""),
        ("repository:a:", ""), ("repository:a:pull,", ""), ("repository:a:PULL", ""), ("repository:A:pull", ""),
        ("repository:../a:pull", ""), ("repository:a//b:pull", ""), ("repository:/a:pull", ""),
        ("repository:a..b:pull", ""), ("repository:a&b=c:pull", ""), ("repository:a%2fb:pull", ""),
        ("repository:é:pull", ""), ("re.po:a:pull", ""), ("repository(:a:pull", ""), ("repository():a:pull", ""),
        ("repository:*:pull", ""), ("repository:a:pull\trepository:b:pull", ""),
        ("repository:a:pull  x repository:b:pull", "repository:a:pull repository:b:pull"),
    ])
    func `scopes are read by the grammar, as sets`(text: String, read: String) {
        #expect("\(scopes(text))" == read)
    }

    @Test func `a scope has at most 256 bytes, and a token 16 resources`() {
        let name = { (count: Int) in "repository:" + String(repeating: "a", count: count) + ":pull" }
        #expect(scopes(name(240)).resources.count == 1)
        #expect(scopes(name(241)).isEmpty)
        #expect(scopes((1...40).map { "repository:a\($0):pull" }.joined(separator: " ")).resources.count == 16)
        #expect(scopes(String(repeating: "repository:a:pull ", count: 100_000)).resources.count == 1)
    }

    @Test(arguments: [
        ("repository:a:pull,push", "repository:a:pull", true),
        ("repository:a:pull", "repository:a:pull,push", false),
        ("repository:a:pull", "repository:b:pull", false),
        ("repository:a:pull repository:b:push", "repository:b:push", true),
        ("repository:a:*", "repository:a:pull,push,delete", true),
        ("repository:a:pull", "registry:a:pull", false),
        ("repository:a:pull", "", true),
        ("", "repository:a:pull", false), ("", "", true),
    ])
    func `a token with more scopes serves`(token: String, wanted: String, serves: Bool) {
        #expect(scopes(token).covers(scopes(wanted)) == serves)
    }

    @Test(arguments: [
        ("repository:team/app:pull,push", ["repository:team/*:pull"], "repository:team/app:pull"),
        ("repository:team/a/b:pull", ["repository:team/*:pull"], "repository:team/a/b:pull"),
        ("repository:other/app:pull", ["repository:team/*:pull"], ""),
        ("repository:team/a:pull repository:other:pull", ["repository:team/*:pull"], "repository:team/a:pull"),
        ("repository:a:pull,push", ["repository:*:*"], "repository:a:pull,push"),
        ("registry:catalog:*", ["registry:catalog:*"], "registry:catalog:*"),
        ("registry:catalog:*", ["registry:catalog:pull"], ""),
        ("repository:a:pull,push", ["repository:a:pull", "repository:*:push"], "repository:a:pull,push"),
        ("repository:xabcyabcz:pull", ["repository:*abc*z:pull"], "repository:xabcyabcz:pull"),
        ("repository:xabcyabcz:pull", ["repository:*abc:pull"], ""),
    ])
    func `no scope beyond the rule file is asked for`(wanted: String, ceiling: [String], allowed: String) {
        let patterns = ceiling.compactMap { RegistryScope($0.utf8, isPattern: true) }
        #expect(patterns.count == ceiling.count)
        #expect("\(scopes(wanted).within(patterns))" == allowed)
    }

    @Test func `the rest of scopes in words`() {
        let rest = scopes("repository:a:pull,push repository:b:pull").without(scopes("repository:a:pull"))
        #expect(rest.words == "push on a, pull on b")
    }

    // MARK: - The token server

    private static let registry = Origin(host: "reg.example.com", port: 443, protocol: .https)

    private func server(_ parameters: String, _ origin: Origin = registry, named: String? = nil) -> String {
        var parser = ChallengeParser()
        parser.parse(Array("Bearer \(parameters)".utf8).span)
        guard let challenge = parser.challenges.first else { return "unreadable" }
        do throws(TokenError) {
            let wish = try RegistryChallenge(challenge, from: origin, named: named.flatMap(TokenIssuer.init))
            return "\(wish.server) \(wish.service ?? "-") \(wish.scopes)"
        } catch { return "\(error)" }
    }

    @Test(arguments: [
        (
            "realm=\"https://reg.example.com/token\",service=\"reg\",scope=\"repository:a:pull\"",
            "https://reg.example.com/token reg repository:a:pull"
        ),
        ("realm=\"https://REG.example.com:443/token\"", "https://reg.example.com/token - "),
        (
            "realm=https://reg.example.com/token,service=reg,scope=repository:a:pull",
            "https://reg.example.com/token reg repository:a:pull"
        ),
        ("realm=\"https://reg.example.com/token?x=1\"", "https://reg.example.com/token?x=1 - "),
    ])
    func `a token server on the registry's own host and port is asked`(parameters: String, wish: String) {
        #expect(server(parameters) == wish)
    }

    /// The realm, and a part of the reason.
    @Test(arguments: [
        ("https://auth.example.com/token", "write 'registry https://auth.example.com/token'"),
        ("https://reg.example.com:8443/token", "write 'registry"), ("http://reg.example.com/token", "not https"),
        ("http://reg.example.com:443/token", "not https"), ("https://u@reg.example.com/token", "no usable URL"),
        ("https://reg.example.com@evil.example/token", "no usable URL"),
        ("https://reg.example.com/token#x", "no usable URL"), ("https://reg.example.com/a b", "no usable URL"),
        ("https://reg.example.com\\\\@evil.example/", "no usable URL"), ("https://127.0.0.1/token", "write 'registry"),
        ("http://127.0.0.1/token", "not https"), ("https://reg.example.com.evil.example/", "write 'registry"),
        ("https://reg.example.com/\u{e9}", "no usable URL"), ("/token", "no usable URL"), ("", "no token server"),
        ("ftp://reg.example.com/token", "no usable URL"), ("https://", "no usable URL"),
        ("https://reg.example.com:99999/", "no usable URL"), ("https://169.254.169.254/latest", "write 'registry"),
        ("https://auth.example.com/t;registry", #"write 'registry "https://auth.example.com/t;registry"'"#),
        ("https://auth.example.com/{t}", "no usable URL"), ("https://auth.example.com/t|u", "no usable URL"),
        (#"https://auth.example.com/t\"u"#, "no usable URL"), ("https://auth.example.com/t^`", "no usable URL"),
        ("//reg.example.com/token", "no usable URL"), ("https:reg.example.com/token", "no usable URL"),
    ])
    func `no other token server is asked`(realm: String, reason: String) {
        #expect(server("realm=\"\(realm)\"").contains(reason))
        #expect(!server("realm=\"\(realm)\"").hasSuffix(" "))
    }

    @Test(arguments: [
        ("https://auth.example.com/token", true), ("https://auth.example.com/token?account=x", true),
        ("https://auth.example.com/token/", false), ("https://auth.example.com/Token", false),
        ("https://auth.example.com:443/token", false), ("https://AUTH.example.com/token", false),
        ("https://auth.example.com/token%2f", false), ("http://auth.example.com/token", false),
        ("https://auth.example.com.evil.example/token", false), ("https://reg.example.com/token", false),
    ])
    func `a token server of the rule file is asked if the registry names it byte for byte`(realm: String, isAsked: Bool)
    {
        let said = server("realm=\"\(realm)\"", named: "https://auth.example.com/token")
        #expect(said.hasPrefix("https://auth.example.com/token - ") == isAsked, "\(said)")
        #expect(isAsked || said.contains("the rule file names https://auth.example.com/token"))
    }

    @Test func `http is for a registry of this machine alone`() {
        let local = Origin(host: "127.0.0.1", port: 5000, protocol: .http)
        #expect(server("realm=\"http://127.0.0.1:5000/token\"", local) == "http://127.0.0.1:5000/token - ")
        #expect(server("realm=\"http://127.0.0.1:5001/token\"", local).contains("not https"))
        let other = Origin(host: "reg.example.com", port: 80, protocol: .http)
        #expect(server("realm=\"http://reg.example.com/token\"", other).contains("not https"))
        // A client's X-Forwarded-Proto makes some registries name it so.
        let secure = Origin(host: "127.0.0.1", port: 5000, protocol: .https)
        #expect(server("realm=\"http://127.0.0.1:5000/token\"", secure).contains("not https"))
        #expect(server("realm=\"https://127.0.0.1:5000/token\"", secure) == "https://127.0.0.1:5000/token - ")
    }

    @Test func `a realm and a service are limited in bytes`() {
        let service = { (count: Int) in
            server("realm=\"https://reg.example.com/\",service=\"\(String(repeating: "s", count: count))\"")
        }
        #expect(service(256).hasPrefix("https://"))
        #expect(service(257).contains("more than 256 bytes"))
        #expect(
            server("realm=\"https://reg.example.com/\(String(repeating: "a", count: 1024))\"").contains("no usable"))
    }

    private func unexpected(_ what: Comment) { Issue.record(what) }

    // MARK: - The request and its response

    private func grant(_ scope: String, service: String? = "reg", login: Bool = true) -> TokenGrant {
        let user = Credential(name: "ci", user: "a:b", password: Secret("p w"))
        let grant = TokenGrant(
            server: .registry(nil), clientID: nil, proof: .none, kind: .registry(login ? user : nil))
        guard let server = HTTPEndpoint("https://reg.example.com/token") else { return grant }
        return grant.asked(at: server, service: service, scopes: scopes(scope))
    }

    @Test(arguments: [
        (
            "https://reg.example.com/token",
            "https://reg.example.com/token?service=a%20b%26c&scope=repository%3Aa%3Apull"
        ),
        (
            "https://reg.example.com/token?x=1",
            "https://reg.example.com/token?x=1&service=a%20b%26c&scope=repository%3Aa%3Apull"
        ),
        (
            "https://reg.example.com/token?",
            "https://reg.example.com/token?service=a%20b%26c&scope=repository%3Aa%3Apull"
        ),
    ])
    func `each byte of a registry is encoded in the request`(server: String, url: String) throws {
        let server = try #require(HTTPEndpoint(server))
        let grant = grant("repository:a:pull", service: "a b&c")
        #expect(TokenRequest.url(of: grant, at: server).map { "\($0)" } == url)
    }

    @Test func `one parameter for each resource, and user and password by Basic`() throws {
        let server = try #require(HTTPEndpoint("https://reg.example.com/token"))
        let grant = grant("repository:b:pull repository:a:push,pull", service: nil)
        #expect(
            TokenRequest.url(of: grant, at: server)?.target
                == "/token?scope=repository%3Aa%3Apull%2Cpush&scope=repository%3Ab%3Apull")
        guard case .registry(let login?) = grant.kind else {
            Issue.record("no login")
            return
        }
        let basic = TokenRequest.basic(login)?.withBytes { $0.text }
        #expect(basic == "Basic " + Base64.encode(Array("a:b:p w".utf8)))
    }

    private func response(
        _ content: String, status: Int = 200, login: Bool = true, retryAfter: Milliseconds? = nil, at now: WallTime = 0
    ) -> Result<TokenResponse, TokenError> {
        var content = Array(content.utf8)
        do throws(TokenError) {
            guard let server = HTTPEndpoint("https://auth/token?x") else { return .failure(.unusableKey) }
            return .success(
                try TokenResponse(
                    status: status, content: &content, for: grant("repository:a:pull", login: login), from: server,
                    retryAfter: retryAfter, at: now))
        } catch { return .failure(error) }
    }

    @Test(arguments: [
        ("{\"token\":\"t\"}", "t", 60_000), ("{\"access_token\":\"t\"}", "t", 60_000),
        ("{\"token\":\"\",\"access_token\":\"t\",\"expires_in\":300}", "t", 300_000),
        ("{\"token\":\"t\",\"access_token\":\"u\",\"expires_in\":0}", "t", 60_000),
        ("{\"token\":\"t\",\"token_type\":\"N_A\",\"expires_in\":\"7\"}", "t", 7_000),
        ("{\"token\":\"t\",\"expires_in\":300,\"issued_at\":\"1970-01-01T00:16:40Z\"}", "t", 300_000),
        ("{\"token\":\"t\",\"expires_in\":300,\"issued_at\":\"1970-01-01T00:15:00Z\"}", "t", 200_000),
        ("{\"token\":\"t\",\"expires_in\":300,\"issued_at\":\"1970-01-01T00:00:00Z\"}", "t", 300_000),
        ("{\"token\":\"t\",\"expires_in\":300,\"issued_at\":\"yesterday\"}", "t", 300_000),
    ])
    func `a token with either name, for 60 seconds if its life is unknown`(
        content: String, token: String, life: Milliseconds
    )
        throws
    {
        let read = try response(content, at: 1_000_000).get()
        #expect(read.token.withBytes { $0.text } == token)
        #expect(read.lifetime == life)
        #expect(read.scopes == scopes("repository:a:pull"))
    }

    @Test(arguments: [
        "", "[]", "{}", "{\"token\":\"\"}", "{\"token\":\"a b\"}", "{\"token\":\"a\\r\\nX: y\"}", "{\"token\":5}",
    ])
    func `a response without a usable token is malformed`(content: String) {
        guard case .failure(.malformed(endpoint: "https://auth/token", _)) = response(content) else {
            Issue.record("taken")
            return
        }
    }

    @Test func `401 and 403 refuse the user and password, and nothing else does`() {
        let details = "{\"errors\":[{\"code\":\"UNAUTHORIZED\",\"message\":\"wrong\\npassword\"}]}"
        for status in [401, 403] {
            guard case .failure(let error) = response(details, status: status) else { return unexpected("taken") }
            #expect(error.isRefusal)
            #expect("\(error)" == "it was refused by https://auth/token (status \(status): wrong?password)")
            guard case .failure(let anyone) = response(details, status: status, login: false) else {
                return unexpected("taken")
            }
            #expect(!anyone.isRefusal)
        }
        for status in [302, 400, 404, 429, 500, 503] {
            guard
                case .failure(let error) = response(
                    "{\"error\":\"invalid_client\"}", status: status, retryAfter: .seconds(30))
            else { return unexpected("taken") }
            #expect(!error.isRefusal)
            #expect(error.pause == 30_000)
        }
    }

    @Test func `a token server is not asked before the time that it names`() {
        let store = TokenStore()
        let exact = Credential(name: "ci", grant: grant("repository:a:pull")).version
        _ = store.supply(for: exact, besides: nil, at: 0)
        store.fail(exact, .status(endpoint: "https://auth/", 429, retryAfter: .seconds(30)), at: 0)
        guard case .none = store.supply(for: exact, besides: nil, at: 29_999) else { return unexpected("asked") }
        guard case .wait(_, fetches: true) = store.supply(for: exact, besides: nil, at: 30_000) else {
            return unexpected("not asked")
        }
    }

    @Test func `registries have 1,024 tokens, and take no room from others`() {
        let store = TokenStore()
        let land = { (version: CredentialVersion, now: WallTime) in
            _ = store.land(
                TokenStore.FetchedToken(
                    grant: version, token: Secret("t"), endsAt: .distantFuture, renewsAt: .distantFuture))
        }
        let other = CredentialVersion(name: "crm", fingerprint: 1)
        _ = store.supply(for: other, besides: nil, at: 0)
        land(other, 0)
        let exact = (1...1100).map { Credential(name: "ci", grant: grant("repository:a\($0):pull")).version }
        for (index, version) in exact.enumerated() {
            let now = WallTime(milliseconds: index)
            _ = store.supply(for: version, besides: nil, at: now)
            land(version, now)
        }
        #expect(store.current(for: other, at: 1) != nil)
        #expect(exact.count { store.current(for: $0, at: 1) != nil } == 1024)
        #expect(exact.last.flatMap { store.current(for: $0, at: 1) } != nil)
    }

    // MARK: - The parts of a registry

    @Test(arguments: [
        ("/v2/", "/v2/", ""), ("/v2/_catalog?n=1", "/v2/_catalog", ""), ("/v2/team/app/manifests/1", "team/app", ""),
        ("/v2/team/app/blobs/uploads/?mount=sha256:0&from=other/repo", "team/app", "other/repo"),
        ("/v2/team/app/blobs/uploads/5?_state=x", "team/app", ""), ("/v2/team/app/tags/list", "team/app", ""),
        ("/v2/team/app/referrers/sha256:0", "team/app", ""), ("/v2/tags/blobs/tags/list", "tags/blobs", ""),
        ("/v2/manifests/manifests/1", "manifests", ""), ("/api/v2.0/projects", "/api/v2.0/projects", ""), ("", "", ""),
        ("/v2/a/manifests", "/v2/a/manifests", ""),
    ])
    func `requests for one repository need one token`(target: String, repository: String, source: String) {
        let place = RegistryPlace(.read, target.utf8Span.span)
        #expect(place.repository.span.text == repository)
        #expect(place.source.span.text == source)
    }

    @Test(arguments: [
        (RegistryPlace.Kind.read, "/v2/", ""), (.read, "/v2/team/app/manifests/1", "repository:team/app:pull"),
        (.write, "/v2/team/app/manifests/1", "repository:team/app:pull,push"),
        (.delete, "/v2/team/app/manifests/1", "repository:team/app:delete"),
        (.read, "/v2/_catalog?n=1", "registry:catalog:*"), (.read, "/v2/Team/tags/list", ""), (.read, "/token", ""),
        (
            .write, "/v2/a/blobs/uploads/?mount=sha256:0&from=b%2Fc",
            "repository:a:pull,push repository:b/c:pull"
        ),
        (.write, "/v2/a/blobs/uploads/?from=%2", "repository:a:pull,push"),
    ])
    func `the usual scopes of a request are those of its repositories`(
        kind: RegistryPlace.Kind, target: String, usual: String
    ) {
        #expect("\(RegistryPlace(kind, target.utf8Span.span).usualScopes)" == usual)
    }

    @Test func `a token server that wants no request for a while is not asked with that credential`() throws {
        let (tokens, version) = (RegistryTokens(), Credential(name: "ci", grant: grant("")).version)
        let server = try #require(HTTPEndpoint("https://auth.example.com/token?x"))
        let other = try #require(HTTPEndpoint("https://auth.example.com/other"))
        let busy = TokenError.status(endpoint: "", 429, retryAfter: .seconds(20))
        tokens.notePause(.status(endpoint: "", 503), for: version, at: server, now: 0)
        #expect(tokens.pause(for: version, at: server, now: 0) == nil)
        tokens.notePause(busy, for: version, at: server, now: 0)
        #expect(
            tokens.pause(for: version, at: server, now: 4500)
                == .status(endpoint: "https://auth.example.com/token", 429, retryAfter: .seconds(16)))
        #expect(tokens.pause(for: version, at: other, now: 4500) == nil)
        #expect(tokens.pause(for: version, at: server, now: 20_000) == nil)
        // The number is limited.
        for number in 0..<200 {
            let url = try #require(HTTPEndpoint("https://auth.example.com/\(number)"))
            tokens.notePause(busy, for: version, at: url, now: 0)
            #expect((tokens.pause(for: version, at: url, now: 0) != nil) == (number < 127), "\(number)")
        }
    }

    @Test func `learned scopes are limited, and the oldest go first`() {
        let tokens = RegistryTokens()
        let version = Credential(name: "ci", grant: grant("")).version
        let place = { (number: Int) in RegistryPlace(.read, "/v2/a\(number)/tags/list".utf8Span.span) }
        let exact = Credential(name: "ci", grant: grant("repository:a:pull"))
        for number in 0..<1024 {
            tokens.put(exact, scopes("repository:a:pull"), for: version, at: Self.registry, place(number))
        }
        _ = tokens.exact(for: version, at: Self.registry, place(0))
        tokens.put(exact, scopes("repository:a:pull"), for: version, at: Self.registry, place(1024))
        #expect(tokens.exact(for: version, at: Self.registry, place(0)) != nil)
        #expect(tokens.exact(for: version, at: Self.registry, place(1)) == nil)
        let other = Origin(host: "other.example.com", port: 443, protocol: .https)
        #expect(tokens.exact(for: version, at: other, place(0)) == nil)
    }
}
