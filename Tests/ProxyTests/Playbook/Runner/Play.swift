import IO
import Testing

/// Plays a conversation with a whole proxy. The text says in order how its clients and servers act, how the proxy
/// responds, and how time passes. There are no ports, and no real time passes.
///
/// A step begins with its party, and an arrow that says whether it is for the proxy (`>>`) or from it (`<<`):
///
///     client >> GET http://h/ HTTP/1.1      a message: its lines follow, then an empty line and the content
///     << connect h:80                       a new connection; the first is `server`, the next `server 2`
///     << connect h:80 refused               also: unreachable, pending (then: server >> accept, server >> refuse), and
///                                           stalled: its server reads nothing, and the system takes little of what is
///                                           sent to it before `server >> room`
///     and server >> tls h                   TLS from here on, by a certificate for `h` of the authority in FILES/ca.pem;
///                                           `tls h accepting new`: it asks for a certificate, and takes that in
///                                           FILES/new.pem and FILES/new.key alone; there is another named `old`.
///                                           FILES/ed25519.pem is a published key for signatures
///     server << GET / HTTP/1.1              fields that are named must be there, those of `strict` must be named
///     server >> HTTP/1.1 200 OK             Content-Length is added; `Content-Length: -` leaves a field out
///     client >> 70000 bytes                 content, in the framing of the last head; `end of body` is the last chunk
///     client << "0\r\n\r\n"                 just these bytes; `\xNN` is one
///     server >> close                       also: end (of sending), reset
///     client << close                       the proxy ended the connection; end: its sending
///     after 30s                             also: 250ms, 5min, 2h
///     reload RULES                          in place of those of the start; the lines that follow belong to it
///     file NAME CONTENT                     writes a file, which the rules name as `file FILES/NAME`
///     refresh                               the files are read, as they are from time to time and after a refusal
///     report TEXT                           the proxy has told its operator
///     answer NUMBER WORDS                   the operator answers that question, as by `attache ask`; `forget` takes it back
///     log GET http://h/ 200                 the next line of the access log: request, status (`-`: none), and below it
///         credential: a                     other members; those of `PlayedLog.strict` must be named, `-` means none
///     metric SERIES VALUE                   the metrics have the line
///     journal basic h:80 answered           the journal of challenges has an entry for that server, and below it
///         rule: "a" *                       members of it, as `PlayedJournal` names them; `-` means none
///     question 1                            the operator is asked that question, and below it members of it
///     and client >> …                       together with the step before; `and after 1s` is a proxy that comes late
///     challenged GET http://h/a             an opening, which stands for its steps: the first client asks the new server h:80
///                                           for `/a`, and gets a 401 with Basic realm="x". `answered GET …`: then the proxy
///                                           answers with user u and password p. `accepted GET …`: then all get a 200
///     # a remark
///
/// A message without a party belongs to the only possible one: `client`, the server that got the last request, the
/// party that got something. In a text `*` matches anything, `{n}` matches anything that is the same at each place, and
/// `base64(u:p)` stands for its value. Each step begins when the proxy has nothing more to do. All that the proxy has
/// sent by then (connections, heads, content and ends) must be named before it gets anything. Lines of the log need not
/// be named, but if one is, all must be. In the end the log must have one line for each request, named or not.
func play(
    rules: String = "", _ conversation: String, sourceLocation: SourceLocation = #_sourceLocation
) async {
    let failure = await withCheckedContinuation { continuation in
        let hasThread = SystemThread.start(name: "play") {
            continuation.resume(returning: Performance.failure(of: conversation, rules: rules))
        }
        precondition(hasThread, "the system gives no thread for a conversation")
    }
    if let failure { Issue.record(Comment(rawValue: failure), sourceLocation: sourceLocation) }
}
