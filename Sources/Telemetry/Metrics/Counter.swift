import Model

extension Metrics {
    /// The counted events, beside errors and durations. The page has the samples of a family in this order.
    public enum Counter: Int, CaseIterable, Sendable {
        /// Exchanges by the class of the status sent; `responsesNone` if the client left before a status was sent.
        case responsesNone
        case responses1xx
        case responses2xx
        case responses3xx
        case responses4xx
        case responses5xx
        /// Signed requests, by scheme.
        case signedByAWS
        case signedByOAuth1
        case signedMessages
        case credentialsRefused
        case credentialsParked
        /// The proxy's own requests to check a credential, by the server's verdict.
        case probesAccepted
        case probesRefused
        case probesUndecided
        case upstreamOpened
        case upstreamReused
        /// Successful TLS handshakes with origins, by whether a session was resumed.
        case upstreamHandshakesFull
        case upstreamHandshakesResumed
        /// HTTP/2 connections with origins, and their streams.
        case upstreamHTTP2Connections
        case upstreamHTTP2Streams
        case clientHandshakesFull
        case clientHandshakesResumed
        case clientHandshakesFailed
        case tunnelsOpened
        case tunnelsClosed
        /// Intercepted tunnels; they are not included in the opened ones.
        case tunnelsIntercepted
        /// HTTP/2 connections of clients, their streams, and the streams that were reset.
        case http2Connections
        case http2Streams
        case http2ResetsReceived
        case http2ResetsSent
        /// HTTP/2 connections that were ended because the client exceeded a limit of frames.
        case http2Floods
        case clientsAccepted
        case clientsClosed
        /// Clients that were not served: because of `clients { allow … }`, or because of one of the limits.
        case clientsRefusedByList
        case clientsRefusedAtLimit
        case clientsRefusedAtAddressLimit
        /// Requests that were refused because of the limits for one client.
        case requestsRefusedByRate
        case requestsRefusedAtOnce
        /// Requests whose client brought a credential that a rule refuses.
        case clientCredentialsRefused
        /// Requests with a placeholder where it is not replaced.
        case placeholdersMisplaced
        /// Idle clients that were disconnected to make room for others.
        case clientsDisplaced
        case bytesIn
        case bytesOut
        /// Requests that were about to be sent to another server than intended.
        case requestsMisdirected
        /// Lines of the access log that were dropped.
        case logLinesDropped
        /// Spans of traces that the collector accepted, and those that were dropped.
        case spansSent
        case spansDropped

        /// The sample of the counter on the page of metrics: its family, and the value of the family's label; nil if the
        /// page calculates with the counter.
        var sample: (family: MetricFamily, label: String?)? {
            switch self {
            case .responsesNone: (.requests, "none")
            case .responses1xx: (.requests, "1xx")
            case .responses2xx: (.requests, "2xx")
            case .responses3xx: (.requests, "3xx")
            case .responses4xx: (.requests, "4xx")
            case .responses5xx: (.requests, "5xx")
            case .credentialsRefused: (.credentialsRefused, nil)
            case .credentialsParked: (.credentialsParked, nil)
            case .probesAccepted: (.credentialProbes, "accepted")
            case .probesRefused: (.credentialProbes, "refused")
            case .probesUndecided: (.credentialProbes, "undecided")
            case .upstreamOpened: (.upstreamConnectionsOpened, nil)
            case .upstreamReused: (.upstreamConnectionsReused, nil)
            case .upstreamHandshakesFull: (.upstreamTLSHandshakes, "no")
            case .upstreamHandshakesResumed: (.upstreamTLSHandshakes, "yes")
            case .upstreamHTTP2Connections: (.upstreamHTTP2Connections, nil)
            case .upstreamHTTP2Streams: (.upstreamHTTP2Streams, nil)
            case .clientHandshakesFull: (.clientTLSHandshakes, "full")
            case .clientHandshakesResumed: (.clientTLSHandshakes, "resumed")
            case .clientHandshakesFailed: (.clientTLSHandshakes, "failed")
            case .tunnelsOpened: (.tunnels, nil)
            case .tunnelsIntercepted: (.tunnelsIntercepted, nil)
            case .http2Connections: (.http2Connections, nil)
            case .http2Streams: (.http2Streams, nil)
            case .http2ResetsReceived: (.http2Resets, "client")
            case .http2ResetsSent: (.http2Resets, "proxy")
            case .http2Floods: (.http2Floods, nil)
            case .clientsAccepted: (.clients, nil)
            case .clientsRefusedByList: (.clientsRefused, "address")
            case .clientsRefusedAtLimit: (.clientsRefused, "limit")
            case .clientsRefusedAtAddressLimit: (.clientsRefused, "address-limit")
            case .requestsRefusedByRate: (.requestsLimited, "rate")
            case .requestsRefusedAtOnce: (.requestsLimited, "concurrent")
            case .clientCredentialsRefused: (.clientCredentialsRefused, nil)
            case .placeholdersMisplaced: (.placeholdersMisplaced, nil)
            case .clientsDisplaced: (.clientsDisplaced, nil)
            case .bytesIn: (.receivedBytes, nil)
            case .bytesOut: (.sentBytes, nil)
            case .requestsMisdirected: (.requestsMisdirected, nil)
            case .logLinesDropped: (.logLinesDropped, nil)
            case .spansSent: (.spansSent, nil)
            case .spansDropped: (.spansDropped, nil)
            case .signedByAWS, .signedByOAuth1, .signedMessages, .tunnelsClosed, .clientsClosed: nil
            }
        }
    }
}
