# fish completion of modser; load it with: modser completion fish | source
# Verbs and options are asked for: `modser help` has them all.

# Sets verb, n (words behind it) and host, and prints nothing.
function __modser_parse --no-scope-shadowing
	set verb ''
	set n 0
	set host
	set -l skip ''
	for word in (commandline -opc)[2..]
		switch $skip
			case host
				set host -H $word
				set skip ''
				continue
			case value
				set skip ''
				continue
		end
		switch $word
			case -H --host
				set skip host
			case -o --output -C --dir --device --split-params --check-daemon --abi --missing-weights --engine --library \
				--graph --params --plugin --token-file --tls-ca --tls-cert --tls-key --external-data --manifest --sign --auth --realm \
				--deadline --connect-timeout --retry --batch-delay --max-run --keep-alive --threads --outputs --signature --priority --name --mlf-version --workers --batch -c --connections --depth --rate --time --tail --every --cc --symbol-prefix --format --input --sha256 --file
				set skip value
			case -l
				contains -- "$verb" ls ps list; or set skip value
			case '-*'
			case '*'
				if test -n "$verb"
					set n (math $n + 1)
				else
					set verb $word
				end
		end
	end
end

function __modser_ask # WORD...: the first column
	set -l verb
	set -l n
	set -l host
	__modser_parse
	modser $host --deadline 1s $argv 2>/dev/null | cut -f1
end

function __modser_at # N VERB...: whether the word behind N others of a VERB is typed
	set -l verb
	set -l n
	set -l host
	__modser_parse
	contains -- "$verb" $argv[2..]; or return 1
	test $argv[1] = + -a $n -gt 0; or test $argv[1] = $n
end

function __modser_verbs
	modser help 2>/dev/null | string replace -rf '^  ([a-z]+) +(.*)' '$1\t$2'
end

function __modser_options
	set -l verb
	set -l n
	set -l host
	__modser_parse
	modser help $verb 2>/dev/null | sed -n '1p;/^Options:/,$p' |
		string match -rag '[\[ |](--?[A-Za-z][a-z-]*)'
end

function __modser_targets
	set -l name (string match -rg '^([^:]*):' -- (commandline -ct))
	if test -n "$name"
		__modser_ask funcs $name | string replace -r '^' "$name:"
	else
		__modser_ask ls | string replace -r '$' ':'
	end
end

function __modser_arguments
	printf '%s\n' out: zeros: ones: rand: str: bytes:@ dtype: device: shape: true false none
	set -l typed (commandline -ct)
	string match -q '@*' -- $typed; and __fish_complete_path (string sub -s 2 -- $typed) |
		string replace -r '^' '@'
end

complete -c modser -f
complete -c modser -n 'string match -q -- "-*" (commandline -ct)' -a '(__modser_options)'
complete -c modser -n '__modser_at 0 "" || __modser_at 0 help' -a '(__modser_verbs)'
complete -c modser -n '__modser_at 0 session instance pull || __modser_at 0 show funcs unload rm rollback sleep wait logs || __modser_at + show funcs unload rm rollback sleep wait logs' -a '(__modser_ask ls)'
complete -c modser -n '__modser_at 0 call bench profile' -a '(__modser_targets)'
complete -c modser -n '__modser_at + call bench profile session instance' -a '(__modser_arguments)'
complete -c modser -n '__modser_at + call' -a 'as then'
complete -c modser -n '__modser_at + session instance' -a 'then set_input run get_output'
complete -c modser -n '__modser_at 0 completion' -a 'bash fish zsh'
complete -c modser -n '__modser_at 0 tls' -a 'init server client'
complete -c modser -n '__modser_at 1 tls' -F
complete -c modser -n '__modser_at 0 cache' -a 'ls prune'
complete -c modser -n '__modser_at 0 store' -a 'ls verify prune pin unpin rm'
complete -c modser -n '__modser_at 1 load || __modser_at 0 inspect unpack convert pack' -F
complete -c modser -n '__modser_at + convert pack' -F
complete -c modser -s H -l host -x -a 'unix: tcp:// tls://' -d 'address of the daemon'
complete -c modser -s o -l output -r -F
complete -c modser -s C -l dir -r -F
complete -c modser -l priority -x -a 'low normal'
complete -c modser -l depth -x
complete -c modser -l graph -r -F
complete -c modser -l params -r -F
complete -c modser -l split-params -r -F
complete -c modser -l plugin -r -F
complete -c modser -l external-data -r -F
complete -c modser -l manifest -r -F
complete -c modser -l sign -r -F
complete -c modser -l auth -r -F
complete -c modser -l realm -x
complete -c modser -l token-file -r -F
complete -c modser -l tls-ca -r -F
complete -c modser -l tls-cert -r -F
complete -c modser -l tls-key -r -F
complete -c modser -l device -x -a '(__modser_ask devices)'
complete -c modser -l library -x
complete -c modser -l abi -x -a 'classic ffi'
complete -c modser -l deadline -x
complete -c modser -l connect-timeout -x
complete -c modser -l retry -x
complete -c modser -l missing-weights -x -a 'zero seeded'
complete -c modser -l check-daemon -x -a 'unix: tcp:// tls://'
