# bash completion of modser; load it with: source <(modser completion bash)

_modser_names() {
	modser ${host:+-H "$host"} --deadline 1 ls 2>/dev/null | cut -f1
}

_modser_functions() {
	modser ${host:+-H "$host"} --deadline 1 funcs "$1" 2>/dev/null | cut -f1
}

# The words of `call`: bash cuts NAME:FUNC at the colon.
_modser_call() {
	local target=${COMP_LINE:0:COMP_POINT} name
	target=${target##* }
	case $target in
	@*) mapfile -t COMPREPLY < <(compgen -f -P @ -- "${cur#@}") ;;
	out:*) mapfile -t COMPREPLY < <(compgen -W "float32[ float16[ int64[ int32[ uint8[ bool[" -- "$cur") ;;
	*:*)
		name=${target%%:*}
		mapfile -t COMPREPLY < <(compgen -W "$(_modser_functions "$name")" -- "${target#*:}")
		;;
	*) mapfile -t COMPREPLY < <(compgen -S : -W "$(_modser_names)" -- "$cur") ;;
	esac
}

_modser() {
	local verbs="ping ls show funcs load unload wait logs inspect convert unpack pack info devices call completion help"
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local verb="" host="" i
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-H | --host) host=${COMP_WORDS[++i]} ;;
		-o | --output | --deadline | --device) ((i++)) ;;
		-*) ;;
		*) verb=${verb:-${COMP_WORDS[i]}} ;;
		esac
	done
	COMPREPLY=()
	case $prev in
	-o | --output)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	-H | --host)
		mapfile -t COMPREPLY < <(compgen -W "unix: tcp://" -- "$cur")
		return
		;;
	--graph | --params | --split-params | -d | --directory)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	--deadline) return ;;
	esac
	if [[ $cur == -* ]]; then
		local options="--host --json --deadline --help --version"
		[[ $verb == call ]] && options+=" --output"
		[[ $verb == convert ]] && options+=" --output --name --mlf-version"
		[[ $verb == unpack ]] && options+=" --directory --split-params"
		[[ $verb == pack ]] && options+=" --output --split-params --cc --system-lib --symbol-prefix"
		[[ $verb == load ]] && options+=" --replace --device --graph --params"
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
		return
	fi
	case $verb in
	"" | help) mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$cur") ;;
	show | funcs | unload | wait | logs)
		mapfile -t COMPREPLY < <(compgen -W "$(_modser_names)" -- "$cur") ;;
	load | inspect | convert | unpack | pack) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	completion) mapfile -t COMPREPLY < <(compgen -W "bash zsh" -- "$cur") ;;
	call) _modser_call ;;
	esac
}

complete -o nospace -F _modser modser
