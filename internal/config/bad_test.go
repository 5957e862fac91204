package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// testEnv is the whole environment of the tests.
func testEnv(name string) (string, bool) {
	value, ok := map[string]string{
		"APP_PASSWORD": "from ${the} environment", "CONNTAG_EMPTY": "", "CONNTAG_APP_PASSWORD": "s3cret",
	}[name]
	return value, ok
}

// badFiles is what each file in testdata must say, line for line, without the file's name in front.
var badFiles = map[string][]string{
	"all_at_once": {
		`:1: users: names nobody, so no client could log in; add at least one user`,
		`:2: proxy.listen: wants text, is a number; put it in quotes`,
		`:3: proxy.drain_timeout: wants a duration with a unit, is 30; write for example 30s or 30ms`,
		`:5: pool.sise: unknown key; did you mean "size"?`,
		`:7: log.level: "loud" is unknown; one of: debug, info, warn, error`,
	},
	"duration_bare":             {`:5: pool.wait_timeout: wants a duration with a unit, is 5; write for example 5s or 5ms`},
	"duration_bare_fraction":    {`:5: pool.wait_timeout: wants a duration with a unit, is 0.5; write for example 0.5s or 0.5ms`},
	"duration_quoted_number":    {`:5: pool.wait_timeout: wants a duration with a unit, is "5"; write for example 500ms, 10s or 5m`},
	"duration_switch":           {`:5: pool.wait_timeout: wants a duration, is false; write for example 500ms, 10s or 5m`},
	"duration_unit":             {`:5: pool.wait_timeout: wants a duration, is "5 days"; write for example 500ms, 10s or 5m`},
	"duration_variable":         {`:5: proxy.drain_timeout: wants a duration, is "${DRAIN}"; variables are only replaced in text, not in numbers, durations or switches`},
	"duration_zero":             {`:5: pool.idle_timeout: wants a duration with a unit, is 0; write 0s`},
	"env_bad_name":              {`:3: users[0].password: between ${ and } is not a variable's name; write ${NAME}, or $${ for a literal ${`},
	"env_empty_password":        {`:3: users[0].password: the variable in it is empty, which would be a login without a password; set it before the start`},
	"env_missing":               {`:3: users[0].password: the environment variable CONNTAG_NOT_SET is not set; set it before the start`},
	"env_missing_in_list":       {`:5: attribution.callers[1]: the environment variable CONNTAG_NOT_SET is not set; set it before the start`},
	"env_unclosed":              {`:3: users[0].password: ${ has no closing }; write ${NAME}, or $${ for a literal ${`},
	"file_and_password":         {`:4: users[0].password_file: given beside password; keep one of the two`},
	"file_backend_and_password": {`:5: users[0].backend_password_file: given beside backend_password; keep one of the two`},
	"file_certificate":          {`:7: backend.tls.ca_file: testdata/no-such.pem: no such file or directory; relative paths start at the directory of the configuration file`},
	"file_directory":            {`:3: users[0].password_file: testdata: is a directory; name a file`},
	"file_empty":                {`:3: users[0].password_file: testdata/empty.txt: is empty; write the password into it`},
	"file_missing":              {`:3: users[0].password_file: testdata/no-such.txt: no such file or directory; relative paths start at the directory of the configuration file`},
	"key_case":                  {`:5: proxy.Listen: unknown key; did you mean "listen"?`},
	"key_in_user":               {`:3: users[0].passwort: unknown key; did you mean "password"?`},
	"key_in_wrong_section":      {`:5: admin.drain_timeout: unknown key; known here: listen, allowed_hosts`},
	"key_near_miss":             {`:5: pool.sise: unknown key; did you mean "size"?`},
	"key_near_miss_section":     {`:4: pools: unknown key; did you mean "pool"?`},
	"key_unknown":               {`:5: log.colour: unknown key; known here: level, format`},
	"key_unknown_nested":        {`:6: backend.tls.ca: unknown key; known here: mode, ca_file, cert_file, key_file, server_name`},
	"kind_date_for_text":        {`:5: proxy.server_version: wants text, is a date; put it in quotes`},
	"kind_empty_list":           {`:5: attribution.keys: has no value; write [] for an empty list, or delete the line for the default`},
	"kind_empty_number":         {`:5: pool.size: has no value; write one, or delete the line for the default`},
	"kind_empty_text":           {`:5: proxy.listen: has no value; write one, or delete the line for the default`},
	"kind_fraction":             {`:5: pool.size: wants a whole number, is 2.5; write for example 10`},
	"kind_huge_number":          {`:5: pool.size: wants a whole number, is 99999999999999999999; write for example 10`},
	"kind_list_for_number":      {`:5: pool.size: wants a whole number, is a list; write for example 10`},
	"kind_list_for_section":     {`:4: log: wants keys (level, format), is a list; write them below it`},
	"kind_list_for_text":        {`:5: proxy.listen: wants text, is a list; write one value`},
	"kind_mapping_for_list":     {`:1: users: wants a list, is a mapping; write one entry per line, each after "- "`},
	"kind_null_document":        {`:1: users: names nobody, so no client could log in; add at least one user`},
	"kind_number_for_text":      {`:3: users[0].password: wants text, is a number; put it in quotes`},
	"kind_number_in_list":       {`:5: attribution.keys[1]: wants text, is a number; put it in quotes`},
	"kind_quoted_number":        {`:5: pool.size: wants a whole number, is "10"; write it without quotes`},
	"kind_switch_for_text":      {`:5: log.level: wants text, is true or false; put it in quotes`},
	"kind_text_for_list":        {`:5: attribution.keys: wants a list, is "conn_tag"; write one entry per line, each after "- "`},
	"kind_text_for_number":      {`:5: pool.size: wants a whole number, is "many"; write for example 10`},
	"kind_text_for_section":     {`:4: log: wants keys (level, format), is "big"; write them below it`},
	"kind_variable_for_number":  {`:5: pool.size: wants a whole number, is "${POOL_SIZE}"; variables are only replaced in text, not in numbers, durations or switches`},
	"sense_admin_host":          {`:5: admin.allowed_hosts[0]: "http://conntag:6080" is not a host name; write it without scheme, port or wildcard`},
	"sense_admin_listen":        {`:5: admin.listen: "127.0.0.1:http-alt" is not host:port; write for example 127.0.0.1:6080`},
	"sense_compression": {
		`:5: proxy.compression[1]: "lz4" is unknown; one of: zlib, zstd`,
		`:5: proxy.compression[2]: "zlib" is there twice`,
		`:7: backend.compression: "gzip" is unknown; one of: off, zlib, zstd`,
	},
	"sense_empty":     {`:1: users: names nobody, so no client could log in; add at least one user`},
	"sense_keepalive": {`:5: proxy.keepalive: must be 3s or more, is 1s; 0s never asks, or write for example 30s`},
	"sense_listen":    {`:5: proxy.listen: "6033" is not host:port; write for example 127.0.0.1:6033`},
	"sense_log": {
		`:5: log.level: "loud" is unknown; one of: debug, info, warn, error`,
		`:6: log.format: "xml" is unknown; one of: text, json`,
	},
	"sense_negative": {
		`:5: proxy.max_client_connections: must be at least 1, is -1; the default is 10000`,
		`:6: proxy.drain_timeout: must be positive, is -1s; write for example 30s`,
	},
	"sense_no_users":        {`:1: users: names nobody, so no client could log in; add at least one user`},
	"sense_no_users_listed": {`:1: users: names nobody, so no client could log in; add at least one user`},
	"sense_proxy_protocol":  {`:5: proxy.proxy_protocol[1]: "10.0.0.5" is not a network; write for example 10.0.0.0/8`},
	"sense_same_listen":     {`:1: admin.listen: 127.0.0.1:6080 is also proxy.listen; give the admin API a port of its own`},
	"sense_tls_files": {
		`:5: proxy.tls.cert_file: needed when tls.mode is required`,
		`:5: proxy.tls.key_file: needed when tls.mode is required`,
	},
	"sense_tls_mode": {
		`:6: proxy.tls.mode: "on" is unknown; one of: off, preferred, required`,
	},
	"sense_user_network":      {`:4: users[0].networks[1]: "everywhere" is not a network; write for example 10.0.0.0/8`},
	"sense_user_twice":        {`:6: users[2].name: "app" is already users[0] (line 2); give each user once`},
	"sense_user_without_name": {`:2: users[0].name: must not be empty`},
	"yaml_duplicate_key":      {`:6: pool.size: given twice, first on line 5; keep one`},
	"yaml_duplicate_section":  {`:8: pool: given twice, first on line 4; keep one`},
	"yaml_indent":             {`:6: not valid YAML, mapping values are not allowed in this context; check the indentation and quotes around this line`},
	"yaml_list_at_top":        {`:1: wants keys (proxy, users, backend, pool, attribution, admin, log), is a list; write them below it`},
	"yaml_merge_key":          {`:7: pool.<<: merge keys are not read; write the keys out`},
	"yaml_tab":                {`:5: not valid YAML, found character that cannot start any token; indent with spaces, not tabs, and quote text that starts with a special character`},
	"yaml_text_at_top":        {`:1: wants keys (proxy, users, backend, pool, attribution, admin, log), is "listen"; write them below it`},
	"yaml_two_documents":      {`:4: a second document starts here; keep everything in one`},
	"yaml_unclosed_quote":     {`:5: not valid YAML, found unexpected end of stream; check the indentation and quotes around this line`},
	"yaml_unknown_anchor":     {`:1: not valid YAML, unknown anchor 'shared' referenced; define it with & before its first use`},
}

func TestEveryBadFileSaysExactlyWhatIsWrongAndWhatToDo(t *testing.T) {
	files, err := filepath.Glob("testdata/*.bad.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(badFiles) {
		t.Errorf("%d bad files, %d expectations", len(files), len(badFiles))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".bad.yaml")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Parse(file, text, testEnv)
			if err == nil {
				t.Fatal("no problem found")
			}
			got := strings.ReplaceAll(err.Error(), file, "")
			if want := strings.Join(badFiles[name], "\n"); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}
