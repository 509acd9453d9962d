// snippets.ts - configuration of other programs to send text to this server.

export interface Snippet {
  name: string;
  note: string;
  text: string;
}

export function snippetsFor(address: URL, token: boolean): Snippet[] {
  const { origin, hostname, protocol } = address;
  const port = address.port || (protocol === "https:" ? "443" : "80");
  const secure = protocol === "https:";
  const lines = (...parts: (string | false)[]) => parts.filter((part) => part !== false).join("\n");
  return [
    {
      name: "curl",
      note: "A text file with one document per line; then compressed JSON lines.",
      text: lines(
        `curl --data-binary @posts.txt -H 'Content-Type: text/plain' \\`,
        token && `  -H "Authorization: Bearer $TOKEN" \\`,
        `  '${origin}/v1/ingest'`,
        "",
        `gzip -c posts.jsonl | curl --data-binary @- -H 'Content-Encoding: gzip' \\`,
        token && `  -H "Authorization: Bearer $TOKEN" \\`,
        `  -H 'Content-Type: application/x-ndjson' \\`,
        `  '${origin}/v1/ingest?text=message'`,
      ),
    },
    {
      name: "Fluent Bit",
      note: "An output; log is the field with the text.",
      text: lines(
        "[OUTPUT]",
        "    Name             http",
        "    Match            *",
        `    Host             ${hostname}`,
        `    Port             ${port}`,
        "    URI              /insert/jsonline?_msg_field=log&_time_field=date",
        "    Format           json_lines",
        "    Json_date_format iso8601",
        secure && "    Tls              on",
        token && "    Header           Authorization Bearer ${TOKEN}",
      ),
    },
    {
      name: "Vector",
      note: "A sink; insert the name of your source.",
      text: lines(
        "sinks:",
        "  wordtide:",
        "    type: http",
        "    inputs: [your_source]",
        `    uri: "${origin}/insert/jsonline?_msg_field=message&_time_field=timestamp"`,
        "    encoding: { codec: json }",
        "    framing: { method: newline_delimited }",
        token && '    auth: { strategy: bearer, token: "${TOKEN}" }',
      ),
    },
    {
      name: "Logstash",
      note: "An output.",
      text: lines(
        "output {",
        "  elasticsearch {",
        `    hosts => ["${origin}/insert/elasticsearch/"]`,
        '    parameters => { "_msg_field" => "message" "_time_field" => "@timestamp" }',
        token && '    custom_headers => { "Authorization" => "Bearer ${TOKEN}" }',
        "    manage_template => false",
        "    ilm_enabled => false",
        "  }",
        "}",
      ),
    },
    {
      name: "Filebeat",
      note: "An output; the template is not needed here.",
      text: lines(
        "output.elasticsearch:",
        `  hosts: ["${origin}/insert/elasticsearch/"]`,
        '  parameters: { _msg_field: message, _time_field: "@timestamp" }',
        "  allow_older_versions: true",
        token && '  headers: { Authorization: "Bearer ${TOKEN}" }',
        "setup.template.enabled: false",
        "setup.ilm.enabled: false",
      ),
    },
    {
      name: "Prometheus",
      note: "The other direction: metrics of wordtide for your monitoring.",
      text: lines(
        "scrape_configs:",
        "  - job_name: wordtide",
        secure && "    scheme: https",
        token && "    authorization: { credentials_file: /etc/prometheus/wordtide-token }",
        "    static_configs:",
        `      - targets: ["${hostname}:${port}"]`,
      ),
    },
  ];
}
