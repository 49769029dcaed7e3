import Model
import Testing

@testable import Authentication

@Suite struct ExtentTests {
    @Test(arguments: [
        // RFC 7617 section 2.2
        ("/docs/index.html", "/docs/", true), ("/docs/index.html", "/docs/test.doc", true),
        ("/docs/index.html", "/docs/?page=1", true), ("/docs/index.html", "/other", false),
        ("/docs/index.html", "/docs", false), ("/docs/index.html", "/docsx/", false),
        ("/", "/anything", true), ("/index", "/a/b/c", true), ("/a/b?c=/d/", "/a/x", true),
        ("/a/b?c=/d/", "/x", false), ("*", "/x", true),
        // Dot segments lead elsewhere.
        ("/a/b", "/a/../x", false), ("/a/b", "/a/%2E%2e/x", false), ("/a/b", "/a/./x", false), ("/a/b", "/a/..", false),
        ("/a/b", "/a/.%2e?x", false), ("/a/b", "/a/.well-known", true), ("/a/b", "/a/...", true),
        ("/a/b", "/a/x?y=/../%2f", true), ("/a/b", "/a/%2", false), ("/a/b", "/a/..;v=1/x", false),
        ("/a/b", "/a/..%2fx", false), ("/a/b", #"/a/..\x"#, false), ("/a/b", "/a/x;v=1/y", true),
        // A server may also decode these before it resolves the path.
        ("/a/b", "/a/x%2f..%2f..%2fpub", false), ("/a/b", "/a/x%2Fy", false), ("/a/b", #"/a/x\..\..\pub"#, false),
        ("/a/b", "/a/x%5c..%5Cpub", false), ("/a/b", "/a/%252e%252e/pub", false), ("/a/b", "/a/100%25", false),
        ("/a/b", "/a/%c0%ae%c0%ae/pub", false), ("/a/b", "/a/x%C1%9c", false), ("/a/b", "/a/%e0%80%ae", false),
        ("/a/b", "/a/%f0%80%80%AE", false), ("/a/b", "/a/%f8%80%80%80%ae", false), ("/a/b", "/a/%u002e", false),
        ("/a/b", "/a/\u{e9}", true), ("/a/b", "/a/%c3%a9", true), ("/a/b", "/a/%e2%82%ac", true),
        ("/a/b", "/a/f%fcr", true), ("/a/b", "/a/%20%41", true), ("/a/b", "/a/%e0", true),
    ])
    func `basic reaches the challenged directory and below`(challenged: String, target: String, within: Bool) throws {
        let extent = try BasicScheme().authenticator(#"Basic realm="r""#, target: challenged).extent
        #expect((extent.coverage(of: target.utf8Span.span) != nil) == within)
    }

    /// The resource of such a path is unknown, and so is its directory.
    @Test(arguments: ["/a/..%2f..%2fpub%2fx", "/a/..", #"/a/x\..\y"#, "/a/x%2fy", "/a/%252e"])
    func `an ambiguous path teaches nothing of its directory`(challenged: String) throws {
        let extent = try BasicScheme().authenticator(#"Basic realm="r""#, target: challenged).extent
        for target in ["/a/x", "/a/", challenged] { #expect(extent.coverage(of: target.utf8Span.span) == nil) }
        let space = KnownSpace(
            ProtectionSpace(
                origin: Origin(host: "h", port: 80, protocol: .http), realm: "r", authenticationMethod: .basic))
        #expect(!space.extend(to: extent))
        #expect(space.learned.extents.isEmpty)
    }

    @Test(
        arguments: [
            (nil, "/anything", true), ("", "/anything", true), ("/a /b", "/b/c", true), ("/a /b", "/c", false),
            ("http://HOST/a", "/a/b", true), ("http://host:80/a", "/a", true), ("http://host", "/z", true),
            ("http://host./a", "/a", true), ("http://host?a", "/a", false), ("http://u@host/a", "/a", false),
            ("http://host:81/a", "/a", false), ("https://host/a", "/a", false),
            ("http://other/ //other/", "/x/y", false),
            ("http://hostile/a", "/a", false), ("http://other/ /a", "/a", true),
        ] as [(String?, String, Bool)])
    func `digest reaches what domain names on its own origin`(domain: String?, target: String, within: Bool) throws {
        let parameter = domain.map { ", domain=\"\($0)\"" } ?? ""
        let extent = try DigestScheme().authenticator(
            "Digest realm=\"r\", nonce=\"n\"\(parameter)", target: "/challenged/here"
        ).extent
        #expect((extent.coverage(of: target.utf8Span.span) != nil) == within)
    }

    @Test func `a proxy's space is everything`() throws {
        for extent in [
            try BasicScheme().authenticator(#"Basic realm="r""#, isProxy: true, target: "/a/b").extent,
            try DigestScheme().authenticator(#"Digest realm="r", nonce="n", domain="/a""#, isProxy: true).extent,
        ] {
            #expect(extent == .origin)
        }
    }
}
