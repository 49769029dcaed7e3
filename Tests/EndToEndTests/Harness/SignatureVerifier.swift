import Foundation

/// The server's side of AWS Signature Version 4, in Python: it shares no code with the proxy.
enum SignatureVerifier {
    /// Why a service would refuse the request; nil if it is signed rightly, and its content is what the signature says.
    static func fault(in request: Message, secret: String, isS3: Bool = true) throws -> String? {
        let folder = Scratch.folder("signature")
        try Scratch.write(request.head, to: folder + "/head")
        try Data(request.body).write(to: URL(fileURLWithPath: folder + "/body"))
        let run = try Finished.run("python3", ["-c", script, folder, secret, isS3 ? "once" : "twice"])
        let said = run.output.trimmingCharacters(in: .whitespacesAndNewlines)
        return run.succeeded && said == "right" ? nil : said + run.errorOutput
    }

    private static let script = """
        import hashlib, hmac, re, sys, time, calendar
        from urllib.parse import quote, unquote_to_bytes
        folder, secret, encoding = sys.argv[1:]
        head = open(folder + '/head', newline='').read().split('\\r\\n')
        body = open(folder + '/body', 'rb').read()
        method, target, _ = head[0].split(' ')
        fields = {}
        for line in head[1:]:
            if line:
                name, value = line.split(':', 1)
                fields.setdefault(name.lower(), []).append(' '.join(value.split()))
        def the(name):
            if len(fields.get(name, [])) != 1: sys.exit('%s %s' % (name, fields.get(name)))
            return fields[name][0]
        found = re.fullmatch(
            r'AWS4-HMAC-SHA256 Credential=([^/]+)/(\\d{8})/([^/]+)/([^/]+)/aws4_request, '
            r'SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})', the('authorization'))
        if not found: sys.exit('Authorization ' + the('authorization'))
        access, day, region, service, names, signature = found.groups()
        date = the('x-amz-date')
        if abs(calendar.timegm(time.strptime(date, '%Y%m%dT%H%M%SZ')) - time.time()) > 300: sys.exit('time ' + date)
        if not date.startswith(day): sys.exit('day ' + day)
        wanted = [n for n in fields if n in ('host', 'content-type') or n.startswith('x-amz-')]
        if sorted(wanted) != names.split(';'): sys.exit('signed are ' + names)
        payload = the('x-amz-content-sha256')
        if re.fullmatch('[0-9a-f]{64}', payload) and payload != hashlib.sha256(body).hexdigest(): sys.exit('content')
        path, _, query = target.partition('?')
        if encoding == 'once': path = quote(unquote_to_bytes(path), safe='/~')
        else: path = quote(path, safe='/~')
        pairs = [p.partition('=') for p in query.split('&') if p]
        one = lambda text: quote(unquote_to_bytes(text), safe='~')
        query = '&'.join('%s=%s' % pair for pair in sorted((one(n), one(v)) for n, _, v in pairs))
        lines = ''.join('%s:%s\\n' % (n, ','.join(fields[n])) for n in names.split(';'))
        request = '\\n'.join([method, path, query, lines, names, payload])
        scope = '%s/%s/%s/aws4_request' % (day, region, service)
        digest = hashlib.sha256(request.encode()).hexdigest()
        key = ('AWS4' + secret).encode()
        for part in [day, region, service, 'aws4_request', '\\n'.join(['AWS4-HMAC-SHA256', date, scope, digest])]:
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        print('right' if key.hex() == signature else 'signature over ' + repr(request))
        """
}
