import Foundation
import TestSupport

/// A parent of another project that chooses HTTP/2 in its TLS handshake: it opens tunnels, and makes requests by HTTP/1.1.
final class HTTP2Relay: Sendable {
    enum Kind: Sendable {
        /// It passes all that it gets on to the proxy of HTTP/1.1 at that port.
        case nghttpx(UInt16)
        /// It is of PyPI.
        case envoy
        /// It wants a login by Basic or NTLM.
        case apache(isNTLM: Bool)
    }

    static func has(_ program: String) -> Bool { (try? Spawn.executable(program)) != nil }

    let port = FreePort.take()
    private let folder = Scratch.folder("h2-relay")
    private let child: Subprocess

    init(_ kind: Kind) throws {
        let identity = try ServerIdentity(Hierarchy.shared().issuing.issue(CertificateTerms(host: HTTP2Origin.host)))
        let (chain, key) = (identity.chain, identity.leaf.key)
        switch kind {
        case .nghttpx(let behind):
            child = try Subprocess(
                "nghttpx",
                [
                    // Its defaults are 8 requests to a host, and 100 on a connection.
                    "--http2-proxy", "--no-ocsp", "--backend-connections-per-host=1000",
                    "--frontend-http2-max-concurrent-streams=1000", "--frontend=127.0.0.1,\(port)",
                    "--backend=127.0.0.1,\(behind)", "--conf=/dev/null", "--errorlog-file=\(folder)/error.log", key,
                    chain,
                ], directory: folder)
        case .envoy: child = try Self.envoy(folder, port, chain, key, routes: Self.relaying, Self.dynamic)
        case .apache(let isNTLM):
            try Scratch.write(
                Self.apache(folder, port, chain, key, isNTLM: isNTLM), to: folder + "/httpd.conf")
            child = try Subprocess(
                "apache2", ["-f", folder + "/httpd.conf", "-DFOREGROUND"],
                environment: [
                    "NTLM_USER_FILE": folder + "/users", "NETBIOS_COMPUTER_NAME": "NTSRV",
                    "NETBIOS_DOMAIN_NAME": Account.domain,
                ], directory: folder)
        }
        try Socket.awaitListener(on: port, of: child)
    }

    var errorOutput: String { child.errorOutput }

    // MARK: - Apache

    /// The lines of Apache's log: version and status.
    func entries(atLeast count: Int) -> [String] {
        var found: [String] = []
        _ = Wait.until {
            found = Scratch.read(folder + "/access.log").split(separator: "\n").map(String.init)
            return found.count >= count
        }
        return found
    }

    private static func apache(
        _ folder: String, _ port: UInt16, _ chain: String, _ key: String, isNTLM: Bool
    ) throws -> String {
        mkdir(folder + "/run", 0o777)
        chmod(folder + "/run", 0o777)
        let made = try Finished.run("htpasswd", ["-nbB", "-C", "4", Account.user, Account.password])
        try Scratch.write(made.output, to: folder + "/passwords")
        let users = Account.ntlmUsers.map { "\(Account.domain):\($0):\(Account.ntlmPasswords[$0] ?? "")\n" }
        try Scratch.write(users.joined(), to: folder + "/users")
        let modules = [
            "mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_basic", "auth_gssapi",
            "log_config", "unixd", "ssl", "socache_shmcb", "http2", "proxy", "proxy_http", "proxy_connect",
        ].filter { access("/usr/lib/apache2/modules/mod_\($0).so", R_OK) == 0 }
        let login =
            isNTLM
            ? "AuthType GSSAPI\nGssapiAllowedMech ntlmssp\nGssapiConnectionBound On"
            : "AuthType Basic\nAuthBasicProvider file\nAuthUserFile \(folder)/passwords"
        return """
            ServerRoot \(folder)
            DefaultRuntimeDir \(folder)/run
            PidFile run/httpd.pid
            ServerName \(HTTP2Origin.host)
            Listen 127.0.0.1:\(port)
            \(getuid() == 0 ? "User www-data\nGroup www-data" : "")
            \(modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }.joined(separator: "\n"))
            ErrorLog error.log
            LogLevel warn
            LogFormat "%H %>s" attache
            CustomLog access.log attache
            Mutex file:\(folder)/run
            StartServers 1
            ServerLimit 2
            ThreadsPerChild 64
            MaxRequestWorkers 128
            KeepAliveTimeout 30
            Protocols h2 http/1.1
            SSLEngine on
            SSLCertificateFile \(chain)
            SSLCertificateKeyFile \(key)
            SSLSessionCache shmcb:\(folder)/run/sessions(512000)
            ProxyRequests On
            H2ProxyRequests On
            AllowCONNECT 1-65535
            <Proxy *>
                \(login)
                AuthName up
                Require valid-user
            </Proxy>

            """
    }

    // MARK: - Envoy

    /// Starts an Envoy with one listener.
    /// - Parameters:
    ///   - routes: YAML of its routes.
    ///   - rest: YAML of its filters before the router, and of its clusters; empty for none.
    static func envoy(
        _ folder: String, _ port: UInt16, _ chain: String, _ key: String, routes: String,
        _ rest: (filter: String, cluster: String) = ("", "")
    ) throws -> Subprocess {
        let text = """
            static_resources:
              listeners:
              - address: { socket_address: { address: 127.0.0.1, port_value: \(port) } }
                filter_chains:
                - transport_socket:
                    name: tls
                    typed_config:
                      "@type": \(api)transport_sockets.tls.v3.DownstreamTlsContext
                      common_tls_context:
                        alpn_protocols: [h2, http/1.1]
                        tls_certificates:
                        - { certificate_chain: { filename: \(chain) }, private_key: { filename: \(key) } }
                  filters:
                  - name: envoy.filters.network.http_connection_manager
                    typed_config:
                      "@type": \(api)filters.network.http_connection_manager.v3.HttpConnectionManager
                      stat_prefix: test
                      via: "1.1 envoy"
                      http2_protocol_options: { allow_connect: true }
                      upgrade_configs: [ { upgrade_type: CONNECT } ]
                      route_config:
                        virtual_hosts:
                        - name: all
                          domains: ["*"]
                          routes: \(routes)
                      http_filters:
            \(rest.filter)
                      - name: envoy.filters.http.router
                        typed_config: { "@type": \(api)filters.http.router.v3.Router }
            \(rest.cluster)

            """
        try Scratch.write(text, to: folder + "/envoy.yaml")
        let words = ["-c", folder + "/envoy.yaml", "--concurrency", "1", "--disable-hot-restart", "-l", "error"]
        return try Subprocess(try PythonPackages.envoy(), words, directory: folder)
    }

    private static let api = "type.googleapis.com/envoy.extensions."

    /// A parent's routes: CONNECT becomes a tunnel, and everything else a request.
    private static let relaying = """
        [ { match: { connect_matcher: {} }, route: { cluster: origins, timeout: 0s,
            upgrade_configs: [ { upgrade_type: CONNECT, connect_config: {} } ] } },
          { match: { prefix: "/" }, route: { cluster: origins, timeout: 0s } } ]
        """.replacing("\n", with: " ")

    /// The filter and the cluster that connect to the server that a request names.
    private static let dynamic = (
        filter: """
                  - name: envoy.filters.http.dynamic_forward_proxy
                    typed_config:
                      "@type": \(api)filters.http.dynamic_forward_proxy.v3.FilterConfig
                      dns_cache_config: { name: names, dns_lookup_family: V4_ONLY }
        """,
        cluster: """
          clusters:
          - name: origins
            lb_policy: CLUSTER_PROVIDED
            circuit_breakers: { thresholds: [ { max_connections: 2000, max_pending_requests: 2000, max_requests: 2000 } ] }
            cluster_type:
              name: envoy.clusters.dynamic_forward_proxy
              typed_config:
                "@type": \(api)clusters.dynamic_forward_proxy.v3.ClusterConfig
                dns_cache_config: { name: names, dns_lookup_family: V4_ONLY }
        """
    )
}
