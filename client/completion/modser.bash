# bash completion of modser; load it with: source <(modser completion bash)
# Verbs and options are asked for: `modser help` has them all.

_modser_ask() {
	"$modser" ${host:+-H "$host"} --deadline 1s "$@" 2>/dev/null | cut -f1
}

_modser_options() {
	"$modser" help ${verb:+"$verb"} 2>/dev/null | sed -n '1p;/^Options:/,$p' |
		grep -oE -- '[[ |]--?[A-Za-z][a-z-]*' | tr -d '[ |'
}

_modser_words() { # WORD...: those that begin with what is typed
	mapfile -t COMPREPLY < <(compgen -W "$*" -- "$cur")
}

_modser_files() { # [PREFIX]: quoted here; bash itself would quote the prefix, too
	local file
	while read -r file; do
		[[ -d $file ]] && file+=/
		printf -v file '%q' "$file"
		COMPREPLY+=("${1-}$file")
	done < <(compgen -f -- "${cur#"${1-}"}")
}

_modser_argument() { # [WORD...]
	case $cur in
	*@*) _modser_files "${cur%%@*}@" ;;
	*) _modser_words @ out: zeros: ones: rand: str: bytes: dtype: device: shape: true false none "$@" ;;
	esac
}

_modser_target() {
	local name=${cur%%:*}
	if [[ $cur == *:* ]]; then
		_modser_words "$(_modser_ask funcs "$name" | sed "s/^/$name:/")"
	else
		_modser_words "$(_modser_ask ls | sed 's/$/:/')"
	fi
}

_modser_of_verb() { # the word behind $n others of $verb
	case $verb in
	"") _modser_words "$("$modser" help | sed -n 's/^  \([a-z]\+\) .*/\1/p')" ;;
	help) verb="" _modser_of_verb ;;
	show | stats | funcs | unload | rm | rollback | sleep | wait | logs | monitor) _modser_words "$(_modser_ask ls)" ;;
	pull) ((n)) || _modser_words "$(_modser_ask ls)" ;;
	load) ((n == 0)) || _modser_files ;;
	call) if ((n)); then _modser_argument as 'then'; else _modser_target; fi ;;
	bench | profile) if ((n)); then _modser_argument; else _modser_target; fi ;;
	session | instance)
		if ((n)); then
			_modser_argument 'then' set_input run get_output
		else
			_modser_words "$(_modser_ask ls)"
		fi
		;;
	completion) _modser_words bash fish zsh ;;
	tls) if ((n)); then _modser_files; else _modser_words init server client; fi ;;
	cache) ((n)) || _modser_words ls prune ;;
	store) ((n)) || _modser_words ls verify prune pin unpin rm ;;
	ping | ls | ps | list | version | info | metrics | slowlog | top | doctor | clients | reload | devices | formats | serializers) ;;
	*) _modser_files ;;
	esac
}

_modser() {
	local modser=$1 line=${COMP_LINE:0:COMP_POINT} verb="" host="" n=0 i words
	# Not COMP_WORDS: bash cuts words at colons and more. A blank behind a backslash is no end.
	# shellcheck disable=SC2162
	read -a words <<<"$line"
	[[ $line == *[[:space:]] ]] && words+=("")
	local cur=${words[-1]} last=$((${#words[@]} - 1))
	COMPREPLY=()
	for ((i = 1; i < last; i++)); do
		case ${words[i]} in
		-H | --host) host=${words[++i]} ;;
		-o | --output | -C | --dir | --device | --split-params | --check-daemon | --abi | --missing-weights | --engine | --library | \
			--graph | --params | --plugin | --token-file | --tls-ca | --tls-cert | --tls-key | --external-data | --manifest | --sign | --auth | --realm | \
			--deadline | --connect-timeout | --retry | --batch-delay | --max-run | --keep-alive | --threads | --outputs | --signature | --priority | --name | --mlf-version | --workers | --batch | -c | --connections | --depth | --rate | --time | --tail | --every | --cc | --symbol-prefix | --format | --input | --sha256 | --file) ((i++)) ;;
		-l) [[ $verb == ls || $verb == ps || $verb == list ]] || ((i++)) ;;
		-*) ;;
		*) if [[ $verb ]]; then ((n++)); else verb=${words[i]}; fi ;;
		esac
	done
	case ${words[last - 1]} in
	-H | --host | --check-daemon) _modser_words unix: tcp:// tls:// ;;
	-C) _modser_files ;;
	--priority) _modser_words low normal ;;
	-o | --output | --dir | --graph | --params | --plugin | --token-file | --tls-ca | --tls-cert | --tls-key | --external-data | --manifest | --sign | --auth | --split-params) _modser_files ;;
	--device) _modser_words "$(_modser_ask devices)" ;;
	--abi) _modser_words classic ffi ;;
	--missing-weights) _modser_words zero seeded ;;
	--engine) _modser_words auto native reference ;;
	--deadline | --connect-timeout | --retry | --batch-delay | --max-run | --keep-alive | --threads | --outputs | --signature | --name | --mlf-version | --workers | --batch | -c | --connections | --depth | --rate | --time | --tail | --every | --cc | --symbol-prefix | --format | --input | --sha256 | --file | --realm | --library) ;;
	*) if [[ $cur == -* ]]; then _modser_words "$(_modser_options)"; else _modser_of_verb; fi ;;
	esac
	# What bash puts in place of the reply begins behind the last colon or equals sign, and with
	# the last @ behind that.
	local before=${cur%"${cur##*[:=]}"} rest
	rest=${cur#"$before"}
	[[ $rest != *@* ]] || before+=${rest%@*}
	COMPREPLY=("${COMPREPLY[@]#"$before"}")
	if [[ ${COMPREPLY[0]-} && ${COMPREPLY[0]} != *[:/@] ]]; then
		compopt +o nospace 2>/dev/null
	fi
}

complete -o nospace -F _modser modser
